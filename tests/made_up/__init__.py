"""Campaigns that nobody ran: what is special of each study, and one generator of their files."""
