"""Roles, permissions, and rights on single resources, on the wire and inside."""

from enum import StrEnum


class Role(StrEnum):
    """What a person may do beyond their own sessions."""

    MEMBER = "member"  # nothing: what is theirs, their teams' and shared with them
    REVIEWER = "reviewer"  # reads the sessions of others, which is recorded
    ADMIN = "admin"  # that, and all settings


class Permission(StrEnum):
    """What a role allows."""

    REVIEW_SESSIONS = "review_sessions"
    SEE_WORK = "see_work"  # turns of all, workers, metrics
    OPERATE = "operate"  # stop and delete what is others', drain workers, apply retention
    MANAGE_DOMAINS = "manage_domains"
    MANAGE_MODELS = "manage_models"
    MANAGE_SERVERS = "manage_servers"
    MANAGE_PEOPLE = "manage_people"
    SEE_ALL_USAGE = "see_all_usage"
    READ_AUDIT = "read_audit"


class Allows(StrEnum):
    """What a token allows of that which its person may do; each level holds those before it."""

    READ = "read"
    ASK = "ask"  # begin sessions, send messages, decide, upload
    MANAGE = "manage"  # everything


class Review(StrEnum):
    """How those who may do so read the sessions of others."""

    OFF = "off"
    REASON = "reason"  # they say why, and the owner sees it
    ON = "on"


class Right(StrEnum):
    """A right on one resource. What each is a right on is in `RIGHTS`."""

    READ = "read"
    CONTINUE = "continue"
    USE = "use"
    EDIT = "edit"
    QUERY = "query"
    MANAGE = "manage"


class Resource(StrEnum):
    """What rights can be granted on."""

    SESSION = "session"
    DOMAIN = "domain"
    SOURCE = "source"  # a database or a file of the installation
    FILE = "file"  # an uploaded one
    SERVER = "server"  # a tool server, by its name in domains
    SECRET = "secret"  # noqa: S105  (a kind of resource)
    MODEL = "model"


class SessionRights(StrEnum):
    """What the caller may do in a session; each level holds those before it."""

    READ = "read"
    CONTINUE = "continue"
    OWN = "own"  # it is theirs or their team's: also to rename, archive, share and delete it


class PrincipalType(StrEnum):
    """Who rights are granted to."""

    USER = "user"
    TEAM = "team"
    EVERYONE = "everyone"


# Each kind's rights, the greater ones last: they hold those before them.
RIGHTS: dict[Resource, tuple[Right, ...]] = {
    Resource.SESSION: (Right.READ, Right.CONTINUE),
    Resource.DOMAIN: (Right.USE, Right.EDIT),
    Resource.SOURCE: (Right.QUERY, Right.MANAGE),
    Resource.FILE: (Right.QUERY, Right.MANAGE),
    Resource.SERVER: (Right.USE,),
    Resource.SECRET: (Right.USE,),
    Resource.MODEL: (Right.USE,),
}
