"""Recall quality through the real pipeline and the real assemble, beside baselines and peers of the same run."""
