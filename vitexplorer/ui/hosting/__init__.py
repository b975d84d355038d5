"""What stands between the page and strangers: who is heard, what may be sent, how long anything lasts."""
