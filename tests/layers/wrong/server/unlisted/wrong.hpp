// A folder for which no rule says what it may use.
