"""The room Fine-tune: data report, choice of methods, progress, results, earlier trainings.

Nothing here imports torch when it is imported; trainings are processes of their own (`finetune.job`), and what is
shown of them is read from their folders, so that a page can be closed, reloaded and opened twice.
"""
