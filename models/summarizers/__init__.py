"""Writers of summaries behind one protocol; the preservation gate decides what is kept."""
