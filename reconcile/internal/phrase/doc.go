// Package phrase has the words that messages of several concerns share.
package phrase
