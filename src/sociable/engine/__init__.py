"""The engine begins, carries out, resumes and scores a run. It knows no benchmark by name."""
