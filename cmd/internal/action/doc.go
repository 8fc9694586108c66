// Package action contains check.sh, which the repository's GitHub action runs, and a test
// that validates its output against OASIS's SARIF schema. The other tests of the action are
// two directories above and in testdata/action.
//
// There is nothing to import.
package action
