"""The Fine-tune room: teaching by examples (`teach/`), report on the images, methods (`training/`), results.

No module here imports torch at import time. Trainings are separate processes (`finetune.job`); the room reads their
progress from their folders, so that a page can be closed, reloaded and opened twice.
"""
