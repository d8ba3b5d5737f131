"""Campaigns that nobody ran: the special parts of each study, and one generator of their files."""
