"""What each cue of `deontic_evidence` is worth, heaviest first.

Written by `python -m bench.deontic_training --data DIR --write`; not to be edited by hand. Of two cues in a
row each is followed by its weight.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BIAS: Final = -1.99
_TABLE: Final = """
    has:frame 4.67  name:be 3.02  opens:topic 2.80  has:none 2.48  command&cond 2.46  about:body 2.19
    bound:only 2.12  am&body 1.91  bound:noto 1.89  about:member 1.88  about:style 1.83  when+command 1.83
    polite:be 1.80  verbless&topic 1.58  norm:should 1.57  please 1.56  to:me 1.56
    opens-fragment&please 1.55  act:style>plural 1.52  self&so 1.51  command&bound 1.48  unable&plan 1.48
    count 1.45  lasts:ours 1.44  lasts:strong 1.44  please-command&generic 1.44  wish&topic 1.44
    command:style 1.41  next:emphatic 1.41  self&third 1.41  act:hand>general 1.39  main:you 1.35
    allow:free 1.33  opens-fragment&lasting 1.32  dislike&order 1.28  norm:none 1.28  self&body 1.27
    fragment&bound 1.25  dislike&topic 1.23  plain&definite 1.21  no:task 1.19  order:first 1.18
    verbless&please 1.18  allow&norm 1.17  plain&topic 1.17  have&body 1.16  stop:habit 1.16
    wish&generic 1.14  wish-you&generic 1.14  let&order 1.12  when&cond 1.12  act:style>mine 1.11
    command&lasting 1.11  main:asks 1.10  verbless&mine 1.10  frame&past 1.09  dislike&past 1.08
    let&mine 1.07  lasts:insist 1.06  you&generic 1.05  allow&mine 1.03  self&please 1.03  lasts:weak 1.02
    mine&bound 0.99  the&norm 0.99  when&mine 0.99  ban&so 0.98  main:am 0.96  must&generic 0.94
    about:ailment 0.93  ban>plural 0.93  ban&cond 0.92  ban:conduct 0.91  dislike&lasting 0.91
    so-fragment&so 0.91  ban:hand 0.90  so 0.89  has:allow 0.88  none&mine 0.88  all&norm 0.85
    polite&lasting 0.85  act:style>me 0.84  command>mine 0.84  prep&lasting 0.84  plain&body 0.83
    verbless&lasting 0.82  asks&norm 0.81  main:wish 0.81  we&so 0.81  mine&third 0.80  so-command&so 0.80
    self&past 0.79  allow&lasting 0.78  fragment&third 0.78  main:unable 0.78  whatever&norm 0.78
    ask:know 0.77  main:plain 0.77  must&cond 0.77  unable&so 0.77  verbless&definite 0.77
    wish&bound 0.76  about:served 0.75  command&past 0.75  frame&topic 0.75  cond:you-do 0.74
    must&topic 0.74  act:conduct>particular 0.72  am&so 0.72  cond:it 0.72  dislike&mine 0.72  for:3 0.72
    has:please-ban 0.72  name&bound 0.72  please-ban&please 0.72  the&lasting 0.72  let&lasting 0.71
    only&mine 0.71  stop&topic 0.70  let&topic 0.69  main:have 0.69  norm:needs 0.69  when&norm 0.69
    lasts:case 0.68  prep+polite 0.68  when&topic 0.68  command&plan 0.67  has:command 0.67
    so-command&third 0.67  about:generic 0.66  norm:goes 0.65  body:cannot 0.64  have&lasting 0.64
    main:mine 0.64  must&norm 0.64  norm:be-to 0.64  polite&topic 0.63  unable&body 0.63
    command&topic 0.62  when&please 0.62  frame&mine 0.61  let&norm 0.61  mine&topic 0.61
    verbless&third 0.61  when&bound 0.60  wish-you&bound 0.60  frame&third 0.59  fragment&order 0.58
    frame&generic 0.58  polite&mine 0.58  prep&question 0.58  bound:most 0.57  please-command&mine 0.57
    wish&order 0.57  fragment&lasting 0.56  command>plural 0.55  frame&task 0.55  main:stop 0.55
    please-command&order 0.55  act:feel>thing 0.54  so-command&past 0.53  plain&bound 0.52  so-ban&so 0.52
    whatever&order 0.52  ban&please 0.51  third&topic 0.51  has:so-fragment 0.50  has:mine 0.49
    please-&generic 0.49  so-it&mine 0.49  command&order 0.48  fragment&soft 0.48  has:ban 0.48
    asks&so 0.47  asks&bound 0.46  ban&order 0.46  have&so 0.46  so-all&norm 0.46  third&norm 0.46
    no:guess 0.45  plain&norm 0.45  so-wish&body 0.45  whatever&bound 0.45  wish&definite 0.45
    mine&body 0.44  third&mine 0.44  lasts:hours 0.43  you&topic 0.43  has:have 0.42  prev:fact 0.42
    act:hand>thing 0.41  am&generic 0.41  command&body 0.41  command&third 0.41  has:dislike 0.40
    none&lasting 0.40  please-command&definite 0.40  so-wish&so 0.40  whatever&topic 0.40
    command&generic 0.39  please-&bound 0.39  prep&please 0.39  wish-you&topic 0.39  please-ban&soft 0.38
    the&bound 0.38  am&please 0.37  ban&topic 0.37  unable&norm 0.37  whatever&mine 0.37  when&order 0.37
    none&please 0.36  am&order 0.35  command&mine 0.35  main:all 0.35  so-wish&plan 0.35
    stop>particular 0.35  verbless&order 0.35  allow&soft 0.34  ban>particular 0.34  please-&topic 0.34
    no:modal-self 0.33  all&bound 0.32  ban&norm 0.32  so-command&bound 0.32  fragment&now 0.31
    opens-fragment&topic 0.31  has:so-command 0.30  name&please 0.30  none&body 0.30  ban&plan 0.29
    frame&cond 0.29  polite&norm 0.29  stop>thing 0.29  we-not&bound 0.29  ban>me 0.28  has:wish-you 0.28
    main:wish-you 0.28  only&please 0.28  polite&generic 0.28  polite&third 0.28  so-self&lasting 0.28
    all&topic 0.27  fragment&norm 0.27  has:so-none 0.27  none&so 0.27  prep&order 0.27  prep&task 0.27
    so-none&so 0.27  fragment&generic 0.26  frame&plan 0.26  mine&so 0.26  prep&generic 0.26
    wish-you&cond 0.26  act:conduct>plural 0.25  am&past 0.25  command>me 0.25  please-command&third 0.25
    third&so 0.25  wish-you&task 0.25  fragment&definite 0.24  have&soft 0.24  none&norm 0.24
    norm:has-to 0.24  verbless&plan 0.24  asks&generic 0.23  has:all 0.23  have&norm 0.23
    so-it&third 0.23  so-plain&norm 0.23  so-wish&norm 0.23  act:other>particular 0.22  all&generic 0.22
    main:likes 0.22  none&order 0.22  stop:other 0.22  unable&cond 0.22  act:other>mine 0.21
    act:other>plural 0.21  ban>mine 0.21  mine&definite 0.21  please-stop&topic 0.21  unable&lasting 0.21
    fragment&please 0.20  fragment&topic 0.20  it&order 0.20  prep&body 0.20  stop&so 0.20
    verbless&norm 0.20  dislike&generic 0.19  has:so-stop 0.19  has:whatever 0.19  role&lasting 0.19
    so-stop&so 0.19  so-stop&topic 0.19  whatever&generic 0.19  act:feel>general 0.18  asks&past 0.18
    has:unable 0.18  must&mine 0.18  so-command&lasting 0.18  so-command&mine 0.18  the&definite 0.18
    we-not&lasting 0.18  act:style>yours 0.17  allow&so 0.17  asks&plan 0.17  frame&body 0.17
    has:please-stop 0.17  has:so-allow 0.17  please-&lasting 0.17  please-stop&please 0.17
    so-allow&so 0.17  so-wish&generic 0.17  command>yours 0.16  frame&so 0.16  main:it 0.16
    when&past 0.16  has:so-it 0.15  third&third 0.15  wish&past 0.15  dislike&norm 0.14
    wish-you&order 0.14  ban>general 0.13  please-command&lasting 0.13  lasts:rule 0.12
    so-wish&lasting 0.12  stop>general 0.12  about:reply 0.11  act:style>particular 0.11  all&lasting 0.11
    all&third 0.11  opens-fragment&order 0.11  polite&order 0.11  so-ban&generic 0.11  has:stop 0.10
    it&mine 0.10  none&topic 0.10  so-fragment&generic 0.10  so-fragment&soft 0.10  so-none&generic 0.10
    so-none&topic 0.10  act:conduct>general 0.09  act:other>way 0.09  name&mine 0.09  plain&so 0.09
    to:your 0.09  am&cond 0.08  ask:ensure 0.08  ban&generic 0.08  none&past 0.08  so-ban&bound 0.08
    so-self&topic 0.08  stop&lasting 0.08  the&generic 0.08  ban>thing 0.07  has:self 0.07  it&past 0.07
    please-ban&so 0.07  please-command&bound 0.07  verbless&cond 0.07  act:hand>me 0.06
    bound:contrast 0.06  cond:whatever 0.06  so-command&topic 0.06  when&third 0.06  all&mine 0.05
    must&soft 0.05  opens-fragment&bound 0.05  wish-you&definite 0.05  the&mine -0.05  third&soft -0.05
    when&task -0.05  command:hand -0.06  likes&topic -0.06  must&third -0.06  opens-fragment&norm -0.06
    opens-fragment&so -0.06  prep&bound -0.06  so-fragment&past -0.06  to:mine -0.06  when&so -0.06
    wish:measure -0.06  act:conduct>bare -0.07  command&question -0.07  has:so-all -0.07  must&order -0.07
    no:definite -0.07  so-all&generic -0.07  so-all&so -0.07  so-plain&soft -0.07  so-wish&past -0.07
    mine&order -0.08  opens-fragment&plan -0.08  the&now -0.08  we&mine -0.08  asks&definite -0.09
    has:so-the -0.09  prep&past -0.09  third&definite -0.09  verbless&bound -0.09  we&order -0.09
    you&past -0.09  am&plan -0.10  no:going -0.10  plain&question -0.10  plain&task -0.10  role&soft -0.10
    whatever&cond -0.10  wish&now -0.10  am&task -0.11  has:so-plain -0.11  has:verbless -0.11
    main:ban -0.11  mine&generic -0.11  polite&definite -0.11  so-wish&order -0.11  verbless&now -0.11
    let&soft -0.12  opens-fragment&third -0.12  prep&mine -0.12  so-&mine -0.12  stop&generic -0.12
    third&cond -0.12  unable&past -0.12  am&question -0.13  asks&cond -0.13  prep&so -0.13
    stop:style -0.13  when+ban -0.13  act:feel>way -0.14  act:other>me -0.14  asks&third -0.14
    ban>bare -0.14  it&body -0.14  it&plan -0.14  main:let -0.14  name&generic -0.14  prep&plan -0.14
    prep+fragment -0.14  so-am&mine -0.14  so-am&topic -0.14  stop&mine -0.14  has:so-am -0.15
    please-ban&generic -0.15  so-&generic -0.15  so-&norm -0.15  so-am&generic -0.15  so-am&lasting -0.15
    main:whatever -0.16  so-the&topic -0.16  the&past -0.16  whatever+whatever -0.16  command>way -0.17
    has:asks -0.17  it&topic -0.17  opens-fragment&soft -0.17  self&plan -0.17  ban&lasting -0.18
    ban&now -0.18  command>particular -0.18  has:so-ban -0.18  prep+wish -0.18  we&plan -0.18
    wish&cond -0.18  wish:one -0.18  main:allow -0.19  main:self -0.19  only&now -0.19
    so-plain&topic -0.19  likes&mine -0.20  main:we -0.20  so-&so -0.20  so-self&norm -0.20
    mine&plan -0.21  so-command&plan -0.21  so-self&order -0.21  so-self&plan -0.21  so-self&third -0.21
    the&topic -0.21  act:other>thing -0.22  has:polite -0.22  has:so-prep -0.22  it&lasting -0.22
    opens-fragment&definite -0.22  verbless&so -0.22  act:hand>particular -0.23  prep&definite -0.23
    role&mine -0.23  the&plan -0.23  verbless&generic -0.23  we&cond -0.23  asks&soft -0.24  has:you -0.24
    it&now -0.24  it&soft -0.24  plain&now -0.24  role&bound -0.24  asks&lasting -0.25  asks&task -0.25
    cond:once -0.25  no:reported -0.25  opens-fragment&past -0.25  plain&plan -0.25
    so-command&generic -0.25  asks&question -0.26  command&norm -0.26  it&definite -0.26  main:the -0.26
    must&lasting -0.26  it&cond -0.27  it&so -0.27  prep&soft -0.27  asks&topic -0.28  dislike&soft -0.28
    main:dislike -0.28  polite&soft -0.28  prep&third -0.28  wish&lasting -0.28  act:feel>particular -0.29
    command&please -0.29  fragment&past -0.29  fragment&so -0.29  have&topic -0.29
    act:conduct>thing -0.30  act:feel>one -0.30  has:please- -0.30  has:so- -0.30  please-&please -0.30
    you&norm -0.30  asks&order -0.31  command&soft -0.31  command>general -0.31  has:likes -0.31
    so-ban&topic -0.31  so-plain&mine -0.31  when&body -0.31  act:hand>mine -0.32  have&past -0.32
    when&question -0.32  all&past -0.33  allow&third -0.33  plain&generic -0.33  when&definite -0.33
    am&third -0.34  has:name -0.34  no:plan -0.34  the&soft -0.34  ask:remember -0.35  ban>one -0.35
    name&now -0.35  no:third -0.35  prep&topic -0.35  act:feel>bare -0.36  all&so -0.36  ban&past -0.36
    has:third -0.36  has:when -0.36  main:prep -0.36  main:role -0.36  mine&mine -0.36  plain&cond -0.36
    prep+prep -0.36  so-wish&mine -0.36  so-wish&third -0.36  third&order -0.36  act:other>one -0.37
    act:hand>one -0.38  ban&definite -0.38  command>thing -0.38  mine&lasting -0.38  plain&lasting -0.38
    we&topic -0.38  has:opens-fragment -0.39  likes&soft -0.39  main: -0.39  polite&please -0.39
    when&lasting -0.39  has:we -0.40  prep+self -0.40  self&definite -0.40  no:generic-you -0.41
    only&generic -0.41  frame&soft -0.42  main:command -0.42  must&so -0.42  polite&plan -0.42
    when&plan -0.42  act:hand>way -0.43  am&norm -0.43  short -0.43  has:let -0.44  only&third -0.44
    we&generic -0.44  you&soft -0.44  frame&bound -0.45  has:am -0.45  the&order -0.45  third&bound -0.45
    role&generic -0.46  verbless&past -0.46  we-not&generic -0.46  wish-you&mine -0.46  main:name -0.47
    name&soft -0.47  am&lasting -0.48  fragment&mine -0.48  am&mine -0.49  likes -0.49  so-ban&mine -0.49
    to:doing -0.49  ban&soft -0.50  have&bound -0.50  plain&past -0.50  unable&mine -0.51
    has:so-unable -0.52  has:we-not -0.52  main:we-not -0.52  so-unable&topic -0.52  third&lasting -0.52
    third&past -0.52  have&order -0.53  self&soft -0.53  when+stop -0.53  no:looking -0.54
    no:turn-task -0.54  self&generic -0.54  none&soft -0.55  stop&please -0.56  when+self -0.56
    wish&soft -0.56  wish&task -0.56  act:style>general -0.57  asks&mine -0.57  ban:feel -0.57
    self&lasting -0.57  stop&soft -0.57  act:style>one -0.58  self&topic -0.58  unable&soft -0.59
    no:habit -0.60  unable&topic -0.60  act:conduct>way -0.61  act:hand>plural -0.61  self&bound -0.61
    so-it&topic -0.61  has:role -0.62  plain&order -0.62  main:none -0.63  act:style>thing -0.64
    allow&bound -0.64  have&plan -0.64  mine&past -0.64  no:question -0.64  polite&question -0.64
    no:explain -0.65  stop>way -0.66  act:style>bare -0.67  we&norm -0.67  when&now -0.67
    it&generic -0.68  has:must -0.69  main:third -0.69  opens-fragment&mine -0.69  command&task -0.70
    has:the -0.70  main:must -0.70  no:fact -0.71  command&so -0.72  frame&lasting -0.72  has:it -0.73
    act:style>way -0.74  ban:style -0.74  must&bound -0.74  name&cond -0.74  polite&task -0.74
    when&generic -0.74  no:now -0.75  self&norm -0.77  none&bound -0.78  plain&soft -0.78
    please-command&soft -0.78  allow&generic -0.81  it&norm -0.82  mine&norm -0.82  when&soft -0.82
    frame&now -0.83  command:conduct -0.84  has:wish -0.84  wish&third -0.84  no:past -0.85
    frame&please -0.88  main:only -0.88  none&definite -0.88  polite&bound -0.88  unable&bound -0.88
    frame&order -0.89  command>bare -0.90  have&generic -0.90  no:praise -0.92  stop&definite -0.94
    name&topic -0.95  self&cond -0.95  ban>way -0.97  mine&soft -0.97  am&bound -0.98  ban&third -0.98
    has:prep -0.98  none&generic -1.01  command&definite -1.02  has:fragment -1.03  plain&third -1.03
    no:advice -1.04  the&so -1.04  stop:halt -1.06  has:only -1.07  only&bound -1.07  self&mine -1.09
    wish&norm -1.11  self&order -1.13  act:other>general -1.14  command&now -1.15  none&third -1.20
    matters -1.21  frame&question -1.24  unable&generic -1.27  command>one -1.30  third&generic -1.30
    command:other -1.32  no:opinion -1.38  wish&plan -1.40  no:occasion -1.49  am&definite -1.50
    wish&mine -1.52  no:comfort -1.60  against:1 -1.64  main:fragment -1.69  please-command&topic -1.69
    against:3 -1.72  no:artefact -1.76  has:plain -1.82  against:2 -2.03  frame&norm -2.03
    frame&definite -2.12  wish:to-do -2.32
"""


def _read_table() -> dict[str, float]:
    words = _TABLE.split()
    return {cue: float(weight) for cue, weight in zip(words[::2], words[1::2], strict=True)}


WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(_read_table())
