"""Files that survive a full disk and a killed process: atomic writes, checked reading, image folders, claims."""
