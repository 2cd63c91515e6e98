"""The Inspector: pages that show what is kept, what a prompt was made of, and what waits; read through the other rooms."""
