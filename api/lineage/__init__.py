"""The proof of losslessness, on demand."""
