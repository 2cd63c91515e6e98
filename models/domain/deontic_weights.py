"""What each cue of `deontic_evidence` is worth, heaviest first.

Written by `python -m bench.deontic_training --data DIR --write`; not to be edited by hand. Of two cues in a
row each is followed by its weight.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BIAS: Final = -1.29
_TABLE: Final = """
    has:frame 4.21  name:be 1.80  about:style 1.53  about:body 1.47  am&body 1.42  bound:noto 1.37
    verbless&topic 1.34  opens:topic 1.33  to:me 1.33  command:style 1.25  command&cond 1.23
    opens:for 1.21  has:none 1.20  lasts:strong 1.20  word:than 1.20  bound:only 1.19  frame&generic 1.17
    lasts:weak 1.14  word:as 1.10  opens:just 1.06  word:formal 1.03  stop:habit 0.99  word:tests 0.98
    about:member 0.97  act:style>plural 0.94  for:3 0.93  main:you 0.92  polite:be 0.92  about:served 0.91
    lasts:ours 0.91  word:english 0.91  opens:i-like 0.89  wish&topic 0.88  word:four 0.87  word:from 0.87
    when&mine 0.85  cond:you-do 0.84  lasts:case 0.84  so 0.83  act:hand>general 0.82
    verbless&please 0.82  word:early 0.82  word:ever 0.82  command&bound 0.81  when+command 0.81
    plain&body 0.80  word:give 0.80  act:style>mine 0.79  word:anything 0.79  word:speak 0.79
    word:talk 0.78  word:everything 0.77  command&lasting 0.76  have&body 0.76  word:names 0.76
    word:stick 0.76  plain&bound 0.75  self&so 0.75  word:use 0.75  count 0.74  please 0.74
    word:please 0.74  allow:free 0.73  next:emphatic 0.73  opens-fragment&bound 0.73  plain&topic 0.73
    opens:i-can't 0.72  verbless&mine 0.72  word:between 0.72  norm:none 0.71  opens:let 0.71
    verbless&lasting 0.71  about:ailment 0.70  opens:i-need 0.70  ban:conduct 0.69  opens:remember 0.69
    wish&generic 0.69  word:messages 0.69  word:there's 0.69  allow&norm 0.68  fragment&bound 0.68
    must&generic 0.68  order:first 0.68  word:don't 0.68  word:hotels 0.68  command>mine 0.67
    let&mine 0.67  the&norm 0.67  word:asking 0.67  opens-fragment&please 0.66  lasts:insist 0.65
    norm:should 0.65  the&lasting 0.65  word:within 0.65  opens:we 0.64  word:quote 0.64
    allow&lasting 0.63  main:it 0.63  prep&lasting 0.63  self&please 0.63  word:double 0.63
    has:command 0.62  opens:i-have 0.62  when&cond 0.62  word:every 0.62  word:put 0.62
    dislike&order 0.61  dislike&topic 0.61  please-command&generic 0.61  word:message 0.61  word:most 0.61
    word:notes 0.61  norm:goes 0.60  opens:i'd 0.60  opens:make 0.60  polite&lasting 0.60  wish&bound 0.60
    command&order 0.59  opens:when 0.59  opens:when-i 0.59  wish-you&generic 0.59  word:can't 0.59
    word:should 0.59  word:travel 0.59  frame&topic 0.58  word:rather 0.58  body:cannot 0.57
    dislike&bound 0.57  let&topic 0.57  unable&body 0.57  word:goes 0.57  fragment&order 0.56
    mine&bound 0.56  none&mine 0.56  word:fine 0.56  all&norm 0.55  ban>plural 0.55  dislike&lasting 0.55
    mine&third 0.55  word:before 0.55  word:only 0.55  frame&third 0.54  has:allow 0.54  let&lasting 0.54
    when&topic 0.54  act:conduct>particular 0.53  main:am 0.53  word:we're 0.53  about:generic 0.52
    dislike&past 0.52  opens:when-you 0.52  unable&plan 0.52  verbless&order 0.52  word:fish 0.52
    word:i've 0.52  word:suggest 0.52  let&order 0.51  wish&order 0.51  word:reply 0.51  word:told 0.51
    about:data 0.50  word:drink 0.50  command&third 0.49  opens:our 0.49  plain&norm 0.49  to:your 0.49
    word:recipes 0.49  cond:it 0.48  opens:if 0.48  wish-you&bound 0.48  word:mind 0.48  word:treat 0.48
    fragment&generic 0.47  main:plain 0.47  opens:we-don't 0.47  opens:you-can 0.47  word:if 0.47
    word:less 0.47  word:vegetarian 0.47  ban&cond 0.46  ban&please 0.46  has:please-ban 0.46
    please-ban&please 0.46  self&third 0.46  word:allergic 0.46  word:using 0.46  word:after 0.45
    word:be 0.45  word:say 0.45  main:asks 0.44  main:mine 0.44  opens-fragment&topic 0.44  self&body 0.44
    word:budget 0.44  word:keep 0.44  word:not 0.44  frame&mine 0.43  has:mine 0.43  opens:treat 0.43
    so-command&past 0.43  unable&so 0.43  word:me 0.43  word:prices 0.43  am&so 0.42  command&past 0.42
    fragment&lasting 0.42  stop&topic 0.42  whatever&norm 0.42  word:in 0.42  ban&so 0.41  prev:fact 0.41
    word:add 0.41  allow&mine 0.40  command>plural 0.40  opens:ask 0.40  word:take 0.40  word:write 0.40
    wish&definite 0.39  word:replies 0.39  word:sign 0.39  am&past 0.38  word:answers 0.38  word:else 0.38
    word:free 0.38  word:minutes 0.38  word:plan 0.38  dislike&mine 0.37  name&bound 0.37
    opens-fragment&lasting 0.37  polite&mine 0.37  when&norm 0.37  ban&topic 0.36  none&lasting 0.36
    prep+polite 0.36  verbless&bound 0.36  word:public 0.36  opens:please-use 0.35  prep&question 0.35
    so-self&lasting 0.35  word:list 0.35  you&topic 0.35  all&topic 0.34  main:allow 0.34  main:have 0.34
    main:stop 0.34  no:task 0.34  norm:be-to 0.34  plain&definite 0.34  so-command&third 0.34
    word:assume 0.34  word:okay 0.34  word:school 0.34  word:ten 0.34  word:with 0.34  act:hand>me 0.33
    ask:know 0.33  asks&norm 0.33  command&topic 0.33  frame&past 0.33  opens:give-me 0.33  opens:i 0.33
    word:kind 0.33  word:touch 0.33  you&generic 0.33  bound:most 0.32  main:all 0.32  mine&topic 0.32
    opens:please-don't 0.32  so-command&so 0.32  word:line 0.32  word:refer 0.32  word:unless 0.32
    ban&bound 0.31  ban&plan 0.31  ban>particular 0.31  command&mine 0.31  unable&order 0.31
    word:calls 0.31  word:dates 0.31  word:lunch 0.31  word:question 0.31  word:want 0.31
    command&generic 0.30  frame&cond 0.30  has:wish-you 0.30  main:wish-you 0.30  stop>particular 0.30
    stop>thing 0.30  whatever&bound 0.30  word:leave 0.30  has:have 0.29  has:so-none 0.29  none&so 0.29
    only&mine 0.29  opens:i'd-like 0.29  self&past 0.29  so-none&so 0.29  the&generic 0.29
    verbless&definite 0.29  word:count 0.29  frame&task 0.28  mine&body 0.28  opens:always 0.28
    opens:you 0.28  please-ban&soft 0.28  so-ban&so 0.28  word:commit 0.28  word:direct 0.28
    word:point 0.28  so-all&norm 0.27  word:doctor 0.27  lasts:hours 0.26  main:likes 0.26
    name&please 0.26  opens:give 0.26  third&mine 0.26  unable&norm 0.26  we&so 0.26  whatever&topic 0.26
    word:anywhere 0.26  word:first 0.26  word:kids 0.26  act:style>me 0.25  command&body 0.25
    complaint 0.25  frame&plan 0.25  please-&topic 0.25  please-command&order 0.25  third&norm 0.25
    word:emails 0.25  word:run 0.25  has:you 0.24  have&so 0.24  none&order 0.24  opens:if-i 0.24
    please-&bound 0.24  please-&generic 0.24  when&third 0.24  word:instead 0.24  word:them 0.24
    word:wrong 0.24  fragment&please 0.23  has:am 0.23  has:stop 0.23  opens:it 0.23  opens:you-don't 0.23
    word:whatever 0.23  ban:hand 0.22  has:ban 0.22  must&topic 0.22  none&topic 0.22  norm:needs 0.22
    wish-you&cond 0.22  word:coffee 0.22  word:mention 0.22  word:out 0.22  polite&generic 0.21
    prep&order 0.21  so-fragment&so 0.21  so-wish&body 0.21  stop:other 0.21  when&please 0.21
    word:get 0.21  word:has 0.21  word:hours 0.21  word:is 0.21  word:three 0.21  ask:ensure 0.20
    has:so-it 0.20  must&cond 0.20  none&please 0.20  opens:i-only 0.20  opens:make-sure 0.20
    polite&norm 0.20  whatever&mine 0.20  wish-you&topic 0.20  word:into 0.20  word:they 0.20
    word:try 0.20  act:style>particular 0.19  all&generic 0.19  ban>me 0.19  ban>mine 0.19
    command>way 0.19  has:all 0.19  has:so-fragment 0.19  none&body 0.19  opens:i'd-rather 0.19
    opens:whatever 0.19  please-command&bound 0.19  third&topic 0.19  word:comes 0.19  word:down 0.19
    word:morning 0.19  word:need 0.19  word:needs 0.19  word:work 0.19  act:feel>thing 0.18
    act:other>particular 0.18  am&topic 0.18  asks&generic 0.18  command>yours 0.18  dislike&generic 0.18
    fragment&third 0.18  has:so-command 0.18  main:polite 0.18  opens:please 0.18  opens:you're 0.18
    plain&mine 0.18  word:i 0.18  word:one 0.18  word:project 0.18  word:so 0.18  word:text 0.18
    word:what 0.18  you&bound 0.18  command&plan 0.17  frame&body 0.17  polite&third 0.17
    polite&topic 0.17  prep&please 0.17  so-wish&plan 0.17  word:address 0.17  word:remind 0.17
    word:us 0.17  word:we 0.17  word:week 0.17  fragment&now 0.16  none&norm 0.16  role&lasting 0.16
    we-not&bound 0.16  we-not&lasting 0.16  word:are 0.16  word:no 0.16  word:that's 0.16
    act:style>yours 0.15  command>general 0.15  dislike&definite 0.15  fragment&norm 0.15
    has:whatever 0.15  only&please 0.15  prep&task 0.15  stop&so 0.15  whatever&generic 0.15
    ban:other 0.14  it&order 0.14  must&norm 0.14  opens:write 0.14  so-wish&generic 0.14
    unable&cond 0.14  word:like 0.14  word:metric 0.14  word:thing 0.14  word:word 0.14
    act:other>mine 0.13  all&bound 0.13  allow&so 0.13  ban&norm 0.13  cond:whatever 0.13
    dislike&norm 0.13  fragment&soft 0.13  has:so-allow 0.13  has:so-stop 0.13  have&lasting 0.13
    likes&topic 0.13  please-command&lasting 0.13  so-allow&so 0.13  so-command&bound 0.13
    so-self&topic 0.13  so-stop&so 0.13  so-stop&topic 0.13  unable&lasting 0.13  verbless&norm 0.13
    wish-you&order 0.13  word:otherwise 0.13  am&please 0.12  bound:contrast 0.12  has:so-self 0.12
    must&mine 0.12  so-none&generic 0.12  verbless&plan 0.12  main:unable 0.11  mine&definite 0.11
    polite&order 0.11  so-it&topic 0.11  tail:please 0.11  whatever&order 0.11  word:running 0.11
    act:feel>general 0.10  asks&so 0.10  ban&mine 0.10  ban>general 0.10  command:hand 0.10
    opens-fragment&generic 0.10  opens:as 0.10  opens:would-you 0.10  please-stop&topic 0.10
    so-plain&norm 0.10  so-wish&norm 0.10  verbless&third 0.10  word:red 0.10  am&soft 0.09  frame&so 0.09
    have&norm 0.09  so-fragment&generic 0.09  so-none&topic 0.09  wish:measure 0.09  word:off 0.09
    act:conduct>me 0.08  ban&generic 0.08  fragment&topic 0.08  norm:has-to 0.08  stop&cond 0.08
    stop&lasting 0.08  word:day 0.08  word:spanish 0.08  act:other>plural 0.07  am&order 0.07
    fragment&definite 0.07  have&past 0.07  it&mine 0.07  prep&definite 0.07  so-command&topic 0.07
    so-fragment&topic 0.07  stop:conduct 0.07  when&past 0.07  word:bad 0.07  word:british 0.07
    word:fly 0.07  word:now 0.07  word:numbers 0.07  word:recipe 0.07  word:sources 0.07  about:reply 0.06
    ban&order 0.06  has:unable 0.06  no:hypothetical 0.06  no:it 0.06  opens:from-now 0.06
    opens:please-keep 0.06  opens:prefer 0.06  please-command&definite 0.06  please-command&mine 0.06
    please-command&third 0.06  so-command&definite 0.06  third&so 0.06  to:doing 0.06  word:calendar 0.06
    word:euros 0.06  word:german 0.06  word:house 0.06  word:nothing 0.06  word:number 0.06
    word:sentences 0.06  asks&bound 0.05  it&please 0.05  opens-fragment&cond 0.05  opens:if-a 0.05
    please-&lasting 0.05  so-ban&generic 0.05  so-fragment&soft 0.05  we&topic 0.05  wish&past 0.05
    word:bullet 0.05  word:nobody 0.05  am&now -0.05  asks&past -0.05  asks&plan -0.05
    asks&question -0.05  asks&task -0.05  has:the -0.05  let&soft -0.05  opens:could -0.05  so-&so -0.05
    verbless&generic -0.05  we&mine -0.05  act:feel>one -0.06  act:style>way -0.06  am&question -0.06
    ban&lasting -0.06  fragment&past -0.06  has:so- -0.06  has:so-prep -0.06  have&order -0.06
    mine&cond -0.06  mine&mine -0.06  mine&plan -0.06  opens-fragment&so -0.06  please-ban&generic -0.06
    role&bound -0.06  role&mine -0.06  the&topic -0.06  wish-you&task -0.06  word:meat -0.06
    act:conduct>plural -0.07  have&mine -0.07  no:guess -0.07  we&cond -0.07  wish&question -0.07
    word:code -0.07  word:feel -0.07  word:for -0.07  word:python -0.07  word:team -0.07  word:this -0.07
    word:through -0.07  word:when -0.07  am&task -0.08  asks&soft -0.08  command>me -0.08
    has:dislike -0.08  has:let -0.08  it&plan -0.08  main:whatever -0.08  must&soft -0.08
    opens:please-stop -0.08  so-command&soft -0.08  the&now -0.08  word:emojis -0.08  word:yourself -0.08
    act:feel>way -0.09  mine&order -0.09  name&generic -0.09  no:modal-self -0.09  only&now -0.09
    verbless&so -0.09  whatever+whatever -0.09  word:remember -0.09  act:hand>thing -0.10
    act:other>one -0.10  allow&bound -0.10  ban&now -0.10  command&norm -0.10  it&so -0.10
    likes&mine -0.10  must&third -0.10  opens:i-want -0.10  please-stop&definite -0.10  so-ban&topic -0.10
    so-wish&order -0.10  stop&please -0.10  third&third -0.10  word:anyone -0.10  word:change -0.10
    word:i'd -0.10  word:include -0.10  fragment&so -0.11  has:so-all -0.11  has:verbless -0.11
    plain&plan -0.11  so-all&generic -0.11  so-all&so -0.11  the&definite -0.11  when+ban -0.11
    wish&lasting -0.11  word:eat -0.11  word:open -0.11  word:their -0.11  act:hand>mine -0.12
    command>thing -0.12  it&now -0.12  main:must -0.12  no:generic-you -0.12  opens:from -0.12
    opens:you-must -0.12  prep&generic -0.12  prep&past -0.12  self&definite -0.12  so-plain&so -0.12
    the&third -0.12  verbless&soft -0.12  we&order -0.12  word:family -0.12  word:home -0.12
    word:hour -0.12  act:hand>way -0.13  allow&soft -0.13  asks&order -0.13  has:please-command -0.13
    have&plan -0.13  opens:every -0.13  opens:let's -0.13  please-command&please -0.13  polite&soft -0.13
    the&past -0.13  when&so -0.13  all&so -0.14  has:so-plain -0.14  it&bound -0.14  main:role -0.14
    only&generic -0.14  plain&now -0.14  plain&so -0.14  prep&third -0.14  role&generic -0.14
    so-command&generic -0.14  the&soft -0.14  unable&mine -0.14  we&plan -0.14  word:flights -0.14
    word:ideas -0.14  word:phone -0.14  word:prefer -0.14  word:recommend -0.14  allow&third -0.15
    asks&mine -0.15  ban>one -0.15  must&lasting -0.15  only&third -0.15  word:cups -0.15  word:more -0.15
    word:won't -0.15  has:likes -0.16  opens-fragment&soft -0.16  self&generic -0.16  so-ban&mine -0.16
    so-plain&topic -0.16  so-self&norm -0.16  third&order -0.16  word:could -0.16  word:forward -0.16
    word:hate -0.16  word:name -0.16  act:feel>particular -0.17  command>particular -0.17
    cond:i-say -0.17  has:when -0.17  must&so -0.17  opens:in -0.17  opens:never -0.17  plain&cond -0.17
    prep&topic -0.17  prep+self -0.17  self&lasting -0.17  ban>bare -0.18  likes&soft -0.18
    no:question -0.18  polite&question -0.18  polite&task -0.18  wish-you&definite -0.18  word:find -0.18
    word:it -0.18  am&norm -0.19  ask:remember -0.19  let&generic -0.19  main:ban -0.19
    prep+fragment -0.19  self&topic -0.19  when&now -0.19  when+stop -0.19  wish&now -0.19  word:a -0.19
    word:stay -0.19  allow&generic -0.20  am&third -0.20  ban&past -0.20  has:so-unable -0.20
    opens:don't-be -0.20  prep&soft -0.20  so-self&order -0.20  so-self&third -0.20  so-unable&topic -0.20
    word:i'm -0.20  command&so -0.21  cond:once -0.21  has:role -0.21  main: -0.21  mine&past -0.21
    opens:i-would -0.21  opens:talk -0.21  opens:talk-to -0.21  plain&lasting -0.21  so-self&plan -0.21
    unable&topic -0.21  word:check -0.21  word:language -0.21  word:questions -0.21  word:train -0.21
    you&soft -0.21  opens-fragment&past -0.22  when&question -0.22  word:it's -0.22  am&lasting -0.23
    no:reported -0.23  prep&bound -0.23  so-plain&mine -0.23  word:let -0.23  word:two -0.23
    has:asks -0.24  has:we -0.24  it&topic -0.24  likes -0.24  main:prep -0.24  opens:stop -0.24
    plain&generic -0.24  prep+prep -0.24  self&plan -0.24  so-wish&mine -0.24  wish:one -0.24
    word:ask -0.24  word:long -0.24  word:things -0.24  word:until -0.24  have&bound -0.25  no:plan -0.25
    opens:keep -0.25  plain&past -0.25  polite&plan -0.25  when&body -0.25  word:dinner -0.25
    word:got -0.25  word:here -0.25  act:feel>bare -0.26  main:dislike -0.26  name&soft -0.26
    when&generic -0.26  wish&soft -0.26  word:each -0.26  word:rule -0.26  word:schedule -0.26
    word:then -0.26  act:style>thing -0.27  am&plan -0.27  ban>thing -0.27  frame&question -0.27
    wish-you&mine -0.27  word:start -0.27  act:style>general -0.28  am&mine -0.28
    has:opens-fragment -0.28  has:self -0.28  main:name -0.28  name&now -0.28  none&bound -0.28
    so-wish&third -0.28  verbless&past -0.28  act:hand>particular -0.29  has:must -0.29  it&generic -0.29
    it&soft -0.29  none&generic -0.29  opens:i-don't -0.29  polite&please -0.29  third&bound -0.29
    third&past -0.29  we-not&generic -0.29  word:going -0.29  word:let's -0.29  opens:i'm-not -0.30
    stop&soft -0.30  unable&soft -0.30  when+self -0.30  wish&norm -0.30  word:around -0.30
    word:can -0.30  has:third -0.31  opens:if-you -0.31  third&lasting -0.31  word:look -0.31
    has:wish -0.32  word:right -0.32  command&definite -0.33  must&bound -0.33  no:fact -0.33
    polite&definite -0.33  word:stop -0.33  word:tell -0.33  word:you're -0.33  dislike&soft -0.34
    opens:you-should -0.34  word:allowed -0.34  word:even -0.34  ban&definite -0.35  self&cond -0.35
    wish:see -0.35  word:much -0.35  word:party -0.35  word:up -0.35  act:other>me -0.36  ban:style -0.36
    have&generic -0.36  name&cond -0.36  opens:could-you -0.36  plain&third -0.36  stop>way -0.36
    word:late -0.36  word:small -0.36  you&so -0.36  command&please -0.37  opens:i'd-prefer -0.37
    word:being -0.37  act:hand>one -0.38  name&topic -0.38  opens:in-the -0.38  we&norm -0.38
    word:documents -0.38  word:simple -0.38  has:we-not -0.39  main:we-not -0.39  no:third -0.39
    opens:i-prefer -0.39  word:full -0.39  word:must -0.39  mine&generic -0.40  no:definite -0.40
    no:turn-task -0.40  only&topic -0.40  self&order -0.40  self&soft -0.40  word:or -0.40
    word:these -0.40  act:other>general -0.41  act:style>bare -0.41  word:under -0.41  word:you -0.41
    opens-fragment&mine -0.42  opens:can-you -0.42  opens:i-hate -0.42  opens:the -0.42  the&order -0.42
    wish&task -0.42  word:next -0.42  word:share -0.42  frame&soft -0.43  no:praise -0.43  word:on -0.43
    word:way -0.43  act:conduct>way -0.44  main:self -0.44  stop&definite -0.44  the&so -0.44
    word:any -0.44  no:now -0.45  wish&third -0.45  word:buy -0.45  word:done -0.45  word:email -0.45
    word:sure -0.45  word:was -0.45  ban:feel -0.46  it&norm -0.46  none&soft -0.46  word:read -0.46
    act:style>one -0.47  ban&soft -0.47  frame&bound -0.47  frame&now -0.47  opens:can -0.47
    command>bare -0.48  no:looking -0.48  opens:call-me -0.48  opens:i-never -0.48  plain&soft -0.48
    word:hard -0.48  word:last -0.48  mine&lasting -0.49  when&bound -0.49  word:go -0.49  mine&soft -0.50
    no:past -0.50  none&definite -0.50  word:summary -0.50  frame&please -0.51  main:third -0.51
    please-command&soft -0.51  wish&plan -0.51  word:come -0.51  word:future -0.51  am&bound -0.52
    ban>way -0.52  when&plan -0.52  word:how -0.52  word:watch -0.53  word:will -0.53  has:prep -0.54
    word:sleep -0.55  command&task -0.56  no:habit -0.56  word:the -0.56  main:command -0.57
    no:explain -0.57  opens:call -0.57  it&definite -0.58  word:days -0.58  word:times -0.58
    word:too -0.58  has:it -0.59  main:only -0.59  opens:only -0.59  opens:don't -0.60  unable&bound -0.60
    command:conduct -0.61  none&third -0.61  self&norm -0.61  when&soft -0.61  ban&third -0.63
    frame&lasting -0.63  word:appreciate -0.63  word:door -0.63  word:new -0.63  word:whenever -0.64
    word:words -0.64  self&mine -0.65  word:about -0.65  command&soft -0.66  opens:keep-the -0.66
    mine&norm -0.67  plain&order -0.67  has:only -0.68  only&bound -0.68  opens:thanks -0.68
    word:just -0.68  no:advice -0.69  word:review -0.69  word:to -0.69  word:would -0.69  word:help -0.70
    short -0.72  word:meal -0.72  when&lasting -0.73  word:make -0.73  word:people -0.73  word:that -0.73
    opens:be -0.74  only&order -0.75  stop:halt -0.76  word:book -0.76  word:have -0.76  word:thanks -0.76
    opens:whenever -0.78  polite&bound -0.78  command&now -0.79  am&definite -0.80  has:fragment -0.80
    third&generic -0.80  command:other -0.83  no:opinion -0.85  word:call -0.85  command>one -0.86
    has:plain -0.86  word:good -0.86  opens:whenever-you -0.87  matters -0.93  frame&order -0.94
    word:back -0.95  word:never -0.96  word:there -0.96  no:occasion -0.99  no:artefact -1.02
    unable&generic -1.02  word:always -1.07  word:all -1.11  word:answer -1.13  word:great -1.13
    word:love -1.16  frame&norm -1.18  word:but -1.19  word:some -1.20  word:something -1.21
    word:your -1.22  wish:to-do -1.25  please-command&topic -1.30  word:and -1.33  wish&mine -1.36
    opens:use -1.40  frame&definite -1.41  against:3 -1.42  against:1 -1.43  word:really -1.51
    main:fragment -1.56  word:time -1.61  against:2 -1.62  no:comfort -1.64
"""


def _read_table() -> dict[str, float]:
    words = _TABLE.split()
    return {cue: float(weight) for cue, weight in zip(words[::2], words[1::2], strict=True)}


WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(_read_table())
