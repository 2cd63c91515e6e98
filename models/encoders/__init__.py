"""Text to unit vectors: the protocol, the local ONNX model and a toy for tests."""
