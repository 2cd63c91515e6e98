"""The only Python with SQL. Functions take a connection first, return domain records, and never commit."""
