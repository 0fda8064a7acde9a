"""What a postmortem page says of one end, incident, or node and time: its course, its cost, what was looked at."""

from gangline.postmortem.story import Story, story
from gangline.postmortem.subjects import Subject, SubjectError, find

__all__ = ["Story", "Subject", "SubjectError", "find", "story"]
