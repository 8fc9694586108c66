// Package action holds what the GitHub action of the repository runs, check.sh, and
// the test that what it uploads is SARIF as the schema of OASIS has it. The tests of
// the action itself are two directories above, and in testdata/action.
//
// There is nothing to import.
package action
