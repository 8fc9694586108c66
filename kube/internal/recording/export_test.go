package recording

// File returns the committed file.
func File() []byte { return file }
