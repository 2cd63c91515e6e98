"""The expressions behind technical spans: URLs, paths, error codes, hashes, versions, quantities, names.

Every pattern runs in linear time: neighbouring repetitions have disjoint alphabets or are bounded, and a
look-behind keeps a match from starting inside a run that a match one character earlier has already
refused.
"""

from __future__ import annotations

import re
from typing import Final

# Letters of scripts that put spaces between words. Ideographs are left out on purpose: in
# "函数get_user返回" the name ends where the Latin letters end.
_W: Final = r"0-9A-Za-z_\u00c0-\u1fff"
_SEGMENT: Final = r"[\w.@+~%=$-]"

URL: Final = re.compile(
    rf"(?<![{_W}+.-])(?:[A-Za-z][A-Za-z0-9+.-]{{1,19}}://|www\.)[^\s<>\"'`|\\^{{}}。，、；：！？）】》」]{{3,2048}}"
)
ENDPOINT: Final = re.compile(
    r"(?<![A-Za-z])(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /[\w./{}:?=&%~-]{0,512}"
    r"|(?<![A-Za-z0-9.-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}(?!\d)(?:/[\w./{}:?=&%~-]{0,512})?"
)
MAIL: Final = re.compile(rf"(?<![{_W}.+-])[{_W}.+-]{{1,64}}@[{_W}-]{{1,63}}(?:\.[{_W}-]{{1,63}}){{1,8}}")

# "/etc" and "/tmp" stand alone; other absolute paths need a second segment, or "/s" and "/shrug" would count.
_ROOTS: Final = "etc|tmp|usr|var|home|opt|bin|sbin|dev|proc|sys|mnt|srv|root|boot|Users|Library|Applications"
POSIX_PATH: Final = re.compile(
    rf"(?<![{_W}./~:<\\-])(?:"
    rf"(?:~|\.{{1,2}})(?:/{_SEGMENT}{{1,255}})+/?"
    rf"|(?:/{_SEGMENT}{{1,255}}){{2,}}/?"
    rf"|/(?:{_ROOTS})(?![{_W}-])/?"
    rf"|\.(?:env|gitignore|dockerignore|bashrc|zshrc|npmrc|editorconfig)(?![{_W}])"
    rf"|(?:Dockerfile|Makefile|Jenkinsfile|Procfile)(?![{_W}]))"
)
# A segment may hold blanks only when a backslash still follows: "C:\Program Files\app and" ends at "app".
_WIN: Final = r"[^\\/:*?\"<>|\r\n\t ]{1,255}"
WINDOWS_PATH: Final = re.compile(
    rf"(?<![{_W}])(?:[A-Za-z]:[\\/](?![\\/])|\\\\[\w.$-]{{1,255}}\\)"
    rf"(?:{_WIN}(?: {_WIN}){{0,4}}[\\/])*(?:{_WIN})?"
)
RELATIVE_PATH: Final = re.compile(rf"(?<![\w./\\@:~<-])@?[\w.+-]{{1,128}}(?:[/\\]{_SEGMENT}{{1,255}})+")

_ERRNO: Final = (
    "CONNREFUSED|CONNRESET|CONNABORTED|ACCES|PERM|NOENT|EXIST|INVAL|ADDRINUSE|ADDRNOTAVAIL|TIMEDOUT|PIPE|AGAIN|"
    "NOMEM|BUSY|NOTFOUND|NOTDIR|ISDIR|NOTEMPTY|MFILE|NFILE|NOSPC|ROFS|HOSTUNREACH|NETUNREACH|RESOLVE|LOOP|INTR|IO"
)
ERROR_CODE: Final = re.compile(
    rf"(?<![{_W}-])(?:"
    r"E\d{4}|TS\d{4,5}|(?:MSB|NETSDK|LNK|CS|SC)\d{4}|NU1\d{3}|AADSTS\d{4,6}"
    r"|(?:ORA|PLS|TNS|SP2|RMAN)-\d{4,5}|CVE-\d{4}-\d{4,7}|CWE-\d{1,4}|GHSA(?:-[0-9a-z]{4}){3}"
    r"|SQLSTATE[ \[:=(]{1,3}[0-9A-Z]{5}\]?"
    r"|HTTP(?:/\d(?:\.\d)?)? (?:status )?(?:code )?[1-5]\d{2}"
    r"|[45]\d{2} (?:[Ee]rror|Not Found|Internal Server Error|Bad Request|Unauthorized|Forbidden|Bad Gateway"
    r"|Service Unavailable|Too Many Requests|Gateway Timeout|Conflict)"
    r"|(?:[Ee]rror|ERROR|[Ee]rrno|[Ee]xit|[Ss]tatus)(?: (?:code|status|number))?[ :=#(]{1,3}-?\d{1,6}"
    rf"|0x[0-9A-Fa-f]{{8}}|ERR_[A-Z0-9_]{{2,64}}|E(?:{_ERRNO})"
    r"|SIG(?:SEGV|KILL|TERM|INT|ABRT|BUS|FPE|ILL|PIPE|HUP|QUIT)"
    r"|CrashLoopBackOff|ImagePullBackOff|OOMKilled"
    rf")(?![{_W}])"
)
GIT_REFERENCE: Final = re.compile(
    rf"(?<![{_W}/.-])(?:"
    r"HEAD(?:[~^]\d{0,3}|@\{\d{1,4}\})(?:[~^]\d{0,3}){0,4}"
    r"|(?:origin|upstream|refs/(?:heads|tags|remotes))/[\w./-]{1,200}(?![\w./-])"
    r"|(?:feature|feat|fix|bugfix|hotfix|release|chore)/(?=[\w.]{0,64}[-\d_])[\w./-]{2,200}(?![\w./-])"
    r"|(?:PR|MR|[Pp]ull [Rr]equest|[Mm]erge [Rr]equest|[Ii]ssue|GH)[ -]?[#!]?\d{1,7}"
    rf")(?![{_W}])"
)
UUID: Final = re.compile(
    rf"(?<![{_W}-])[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}(?![{_W}-])"
)
HEX: Final = re.compile(
    rf"(?<![{_W}-])(?:0x[0-9A-Fa-f]{{2,64}}|(?:sha(?:1|256|512)|md5)[:-][0-9a-f]{{7,128}}"
    rf"|[0-9a-f]{{7,64}}|[0-9A-F]{{8,64}})(?![{_W}-])"
)
# As many as there are, and never fewer to make the rest fit: "v1.2.3x" is no version 1.2.
_PART: Final = r"(?:\.\d{1,6})"
_TAG: Final = r"(?:\.[0-9A-Za-z]{1,16})"
VERSION: Final = re.compile(
    rf"(?<![{_W}.-])(?:v\d{{1,4}}(?:{_PART}{{4}}|{_PART}{{1,3}}(?!\.\d))"
    rf"|\d{{1,4}}(?:{_PART}{{4}}|{_PART}{{2,3}}(?!\.\d))"
    rf"|(?:[A-Z][A-Za-z+#]{{1,20}}|python|node|npm|pip|java|go|ruby|php)[ @/]"
    rf"v?\d{{1,4}}\.\d{{1,6}}(?:{_PART}{{2}}|{_PART}{{0,1}}(?!\.\d)))"
    rf"(?:[-+][0-9A-Za-z]{{1,16}}(?:{_TAG}{{4}}|{_TAG}{{0,3}}(?!\.[0-9A-Za-z])))?(?![{_W}])"
)
_UNITS: Final = (
    r"%|°[CF]|[KMGTP]i?B(?:/s)?|kB|[kmgt]b(?:ps)?|[KMG]bps|bytes?|bits?|ns|µs|μs|us|ms|seconds?|secs?|s|minutes?|mins?"
    r"|hours?|hrs?|h|days?|weeks?|months?|years?|yrs?|km/h|kph|mph|km|cm|mm|m|miles?|mi|meters?|metres?|feet|ft|inch(?:es)?"
    r"|kg|g|mg|lbs?|pounds?|oz|ounces?|tons?|liters?|litres?|ml|l|gallons?|cups?|tbsp|tsp|kcal|cal(?:ories)?|degrees?"
    r"|[kMG]?Hz|k?Wh?|mAh|volts?|V|amps?|px|dpi|fps|rpm|bpm|tokens?|rows?|users?|dollars?|bucks|euros?|USD|EUR|GBP|[kKxX]"
    r"|people|steps|pages|points|times|元|円|公里|公斤|小时|分钟"
)
_NUMBER: Final = r"(?:\d{1,3}/\d{1,3}(?![\d/])|\d{1,3}(?:,\d{3}){1,8}|\d{1,15})(?:\.\d{1,9})?"
QUANTITY: Final = re.compile(
    rf"(?<![{_W}.,/])(?:[$€£¥₹] ?{_NUMBER}(?:[kKmMbB](?![{_W}]))?|{_NUMBER}[ -]?(?:{_UNITS})(?![{_W}]))"
)
CODE: Final = re.compile(
    rf"(?<![{_W}-])(?:[A-Z]{{2,10}}-\d{{1,8}}|[A-Z]{{1,10}}\d{{2,8}})[A-Za-z]{{0,3}}(?![{_W}])"
)
FLAG: Final = re.compile(rf"(?<![{_W}-])--[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
# Word characters joined by single dots, hyphens or "::"; what the token means is decided by classify_token.
TOKEN: Final = re.compile(rf"[{_W}]+(?:(?:[.-]|::)[{_W}]+)*")
NAME_SEPARATOR: Final = re.compile(r"\.|::")
FOLD_SEPARATOR: Final = re.compile(r"[^\w.]+")
PART_SEPARATOR: Final = re.compile(r"[\W_]+")
GLUED_IDEOGRAPHS: Final = re.compile(r"\A[\u2e80-\ud7ff]+(?=[A-Za-z])")
