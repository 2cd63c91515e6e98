"""Standing wishes in what a person says in a chat: what speaks for one and against, what that weighs, how long one holds."""
