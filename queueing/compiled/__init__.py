"""Laws in C, where a compiler built them: each stands for a function in Python, its twin."""
