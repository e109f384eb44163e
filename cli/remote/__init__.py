"""``intarsia remote``: servers of other engines that may fill holes for this user."""
