// Its name is wrong.
