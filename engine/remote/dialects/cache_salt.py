"""What keeps a user's cached prompts on a shared server apart from those of other users."""

import hmac

from intarsia.engine.remote.settings.remotes import Remote

_PURPOSE = b"intarsia cache salt 1"


def cache_salt_of(remote: Remote) -> str:
    """Return a salt that only holders of the user's key can tell. Raises ModelError.

    Without a key the users of a server cannot be told apart: then it depends on the url alone.
    """
    key = remote.key() or remote.url
    return hmac.digest(key.encode(), _PURPOSE, "sha256").hex()
