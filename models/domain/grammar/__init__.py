"""What rules and wishes are read with: classes of words, clauses, the action a rule names, and the reading itself."""
