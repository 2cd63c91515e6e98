"""What each cue of `deontic_evidence` is worth, heaviest first.

Written by `python -m bench.deontic_training --data DIR --write`; not to be edited by hand. Of two cues in a
row each is followed by its weight.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BIAS: Final = -1.86
_TABLE: Final = """
    has:frame 3.40  self:suffers 1.66  norm:is 1.60  about:body 1.56  about:style 1.49  name:be 1.41
    plain&norm 1.34  word:isn't 1.32  has:none 1.25  am&body 1.23  next:emphatic 1.20
    word:characters 1.20  opens:for 1.18  verbless&topic 1.18  word:line 1.17  word:we're 1.15  to:me 1.13
    word:than 1.12  we&so 1.09  self&so 1.02  word:written 1.02  lasts:ours 1.01  word:six 1.00
    has:command 0.99  polite:be 0.99  stop:habit 0.98  word:thursday 0.97  bound:most 0.94
    bound:only 0.94  word:state 0.94  word:stays 0.94  word:between 0.92  word:goes 0.92
    fragment&norm 0.90  opens:i'd 0.90  word:doesn't 0.90  word:names 0.90  word:there's 0.90
    command:style 0.89  frame&generic 0.89  so 0.89  fragment&bound 0.88  prep&lasting 0.88
    word:copy 0.88  frame&mine 0.87  when&definite 0.87  opens:i'm-a 0.86  word:talk 0.86  word:use 0.86
    word:polite 0.85  asks&generic 0.84  word:office 0.84  opens:topic 0.83  wish&topic 0.83
    main:all 0.82  word:address 0.82  body:cannot 0.81  lasts:strong 0.81  word:vegetarian 0.81
    opens:i-can't 0.80  word:drop 0.80  about:member 0.79  opens:if 0.78  word:log 0.78
    act:style>mine 0.77  word:above 0.77  word:seven 0.77  ban:other 0.76  bound:contrast 0.76
    word:aren't 0.76  word:word 0.76  ban>plural 0.75  word:anything 0.75  word:are 0.75  word:leave 0.75
    word:nut 0.75  all&norm 0.74  word:one 0.74  the&order 0.73  word:thing 0.73  plain&bound 0.72
    unable&body 0.72  word:first 0.72  word:walk 0.72  none&plan 0.71  opens:i-like 0.71
    plain&definite 0.71  about:data 0.70  cond:it 0.70  opens-fragment&bound 0.70  word:formal 0.69
    word:gym 0.69  word:ones 0.69  word:stay 0.69  word:told 0.69  command>plural 0.68  to:your 0.68
    word:treat 0.68  word:numbers 0.67  main:asks 0.66  third&norm 0.66  word:places 0.66
    word:rather 0.66  lasts:weak 0.65  opens:we-don't 0.65  opens:when 0.65  self&body 0.65
    wish&generic 0.65  word:i 0.65  word:left 0.65  word:not 0.65  word:runs 0.65  opens:make 0.64
    word:below 0.64  word:short 0.64  word:unless 0.64  am&task 0.63  fragment&generic 0.63  has:all 0.63
    verbless&norm 0.63  word:don't 0.63  word:fish 0.63  about:generic 0.62  has:you 0.62
    unable&plan 0.62  word:four 0.62  count 0.61  word:double 0.61  word:speak 0.61  dislike&order 0.60
    has:verbless 0.60  opens:we 0.60  word:therapist 0.60  word:travel 0.60  word:type 0.60
    act:other>plural 0.59  am&past 0.59  command&cond 0.59  command&generic 0.59  complaint 0.59
    word:intolerant 0.59  word:where 0.59  you&mine 0.59  opens-fragment&generic 0.58
    so-command&third 0.58  word:less 0.58  word:sam 0.58  about:ailment 0.57  third&so 0.57
    word:thirty 0.57  ban>particular 0.56  command&lasting 0.56  word:errors 0.56  word:lines 0.56
    command&bound 0.55  opens-fragment&please 0.55  plain&now 0.55  word:i've 0.55  word:need 0.55
    word:night 0.55  word:say 0.55  word:sound 0.55  opens-fragment&topic 0.54  word:comes 0.54
    word:editor 0.54  word:only 0.54  word:spelled 0.54  allow&norm 0.53  have&body 0.53  norm:goes 0.53
    plain&topic 0.53  word:free 0.53  word:get 0.53  word:hotels 0.53  word:notes 0.53  word:quiet 0.53
    word:same 0.53  word:we've 0.53  you&definite 0.53  let&topic 0.52  opens:when-i 0.52
    verbless&lasting 0.52  word:every 0.52  word:peanuts 0.52  word:prices 0.52  word:receipt 0.52
    command&mine 0.51  fragment&order 0.51  opens:remember 0.51  please 0.51  the&third 0.51
    word:claim 0.51  word:hotel 0.51  word:list 0.51  word:mention 0.51  word:paper 0.51  word:please 0.51
    word:pork 0.51  word:press 0.51  word:second 0.51  word:ticket 0.51  word:wake 0.51  all&bound 0.50
    dislike&past 0.50  lasts:case 0.50  lasts:insist 0.50  word:ahead 0.50  word:customers 0.50
    command>mine 0.49  when&third 0.49  word:account 0.49  word:discussion 0.49  word:round 0.49
    for:3 0.48  word:before 0.48  word:columns 0.48  word:weekdays 0.48  word:years 0.48  frame&topic 0.47
    opens:put 0.47  word:rent 0.47  word:suggest 0.47  it&lasting 0.46  let&mine 0.46  mine&third 0.46
    opens:my-daughter 0.46  whatever&norm 0.46  when+third 0.46  word:blood 0.46  word:counts 0.46
    word:daughter 0.46  word:early 0.46  word:keys 0.46  word:law 0.46  word:news 0.46  word:number 0.46
    word:okay 0.46  act:style>plural 0.45  ask:know 0.45  command&third 0.45  has:allow 0.45
    main:allow 0.45  no:task 0.45  please-command&generic 0.45  word:wherever 0.45
    act:other>particular 0.44  ban&cond 0.44  word:after 0.44  word:clear 0.44  word:in 0.44
    word:kilos 0.44  word:morning 0.44  word:no 0.44  word:put 0.44  word:reason 0.44  word:remind 0.44
    allow&lasting 0.43  asks&lasting 0.43  dislike&bound 0.43  has:stop 0.43  let&lasting 0.43
    when&cond 0.43  word:an 0.43  word:asks 0.43  word:can't 0.43  word:may 0.43  word:raw 0.43
    ban&topic 0.42  fragment&topic 0.42  have&so 0.42  main:stop 0.42  mine&definite 0.42
    the&generic 0.42  word:answers 0.42  word:low 0.42  word:out 0.42  word:shopping 0.42  you&topic 0.42
    so-fragment&so 0.41  word:assume 0.41  word:count 0.41  word:decided 0.41  word:everything 0.41
    word:fridays 0.41  word:including 0.41  word:lactose 0.41  word:sick 0.41  word:tests 0.41
    allow:free 0.40  mine&body 0.40  opens:i-only 0.40  opens:say 0.40  opens:you're 0.40
    please-&topic 0.40  so-command&past 0.40  the&topic 0.40  when&so 0.40  word:allergic 0.40
    word:cook 0.40  word:direct 0.40  word:general 0.40  word:root 0.40  word:she's 0.40  word:write 0.40
    ban:conduct 0.39  command&order 0.39  dislike&topic 0.39  has:mine 0.39  mine&norm 0.39
    opens:i'm 0.39  so-command&so 0.39  word:english 0.39  word:mail 0.39  word:messages 0.39
    word:mind 0.39  word:nothing 0.39  word:reply 0.39  word:seats 0.39  word:tell 0.39  word:without 0.39
    act:conduct>particular 0.38  am&topic 0.38  asks&past 0.38  fragment&now 0.38  frame&third 0.38
    none&now 0.38  opens:it's-important 0.38  opens:the 0.38  prep&mine 0.38  verbless&generic 0.38
    word:conclusion 0.38  word:fine 0.38  word:i'm 0.38  word:message 0.38  word:politics 0.38
    word:text 0.38  it&third 0.37  must&generic 0.37  opens:remember-that 0.37  when&topic 0.37
    wish-you&generic 0.37  word:agreed 0.37  word:aisle 0.37  word:american 0.37  word:anyone 0.37
    word:day 0.37  word:eleven 0.37  word:end 0.37  word:mornings 0.37  word:tickets 0.37
    word:windows 0.37  word:zone 0.37  am&so 0.36  has:have 0.36  has:whatever 0.36  must&mine 0.36
    opens:treat 0.36  please-&generic 0.36  stop&topic 0.36  stop>thing 0.36  whatever&generic 0.36
    when+fragment 0.36  word:me 0.36  word:neighbours 0.36  word:packages 0.36  word:screen 0.36
    word:sentences 0.36  word:top 0.36  fragment&third 0.35  main:plain 0.35  mine&bound 0.35
    please-ban&soft 0.35  whatever&topic 0.35  word:straight 0.35  word:sundays 0.35  has:when 0.34
    main:when 0.34  norm:for-me 0.34  norm:has-to 0.34  norm:none 0.34  opens:ask-before 0.34
    opens:we-never 0.34  so-self&plan 0.34  third&mine 0.34  when+when 0.34  word:cite 0.34  word:cut 0.34
    word:ex 0.34  word:from 0.34  word:lovely 0.34  word:point 0.34  word:stuff 0.34  word:what 0.34
    act:other>thing 0.33  dislike&lasting 0.33  opens:ask 0.33  opens:let 0.33  opens:our 0.33
    opens:please-use 0.33  polite&lasting 0.33  we&past 0.33  word:celsius 0.33  word:leaves 0.33
    word:mother 0.33  word:name 0.33  word:percent 0.33  word:python 0.33  word:quote 0.33  word:send 0.33
    you&generic 0.33  act:hand>yours 0.32  allow&mine 0.32  cond:you-do 0.32  none&lasting 0.32
    opens:anything 0.32  self&topic 0.32  word:motto 0.32  word:needs 0.32  word:person 0.32
    word:stomach 0.32  word:things 0.32  word:whatever 0.32  all&generic 0.31  all&plan 0.31
    fragment&lasting 0.31  frame&cond 0.31  opens:all 0.31  opens:if-the 0.31  order:first 0.31
    prep&now 0.31  so-wish&plan 0.31  word:accordingly 0.31  word:commit 0.31  word:hours 0.31
    word:humour 0.31  word:instead 0.31  word:plan 0.31  word:though 0.31  about:reply 0.30
    has:so-fragment 0.30  has:so-none 0.30  none&so 0.30  so-command&norm 0.30  so-none&so 0.30
    word:alarm 0.30  word:build 0.30  word:cash 0.30  word:change 0.30  word:edit 0.30  word:emails 0.30
    word:food 0.30  word:front 0.30  word:milk 0.30  word:run 0.30  word:saying 0.30  you&third 0.30
    ban&so 0.29  command&past 0.29  have&please 0.29  let&order 0.29  only&mine 0.29  opens:i-have 0.29
    opens:we-had 0.29  opens:you-have 0.29  so-it&third 0.29  so-plain&so 0.29  verbless&please 0.29
    we&mine 0.29  wish-you&bound 0.29  word:against 0.29  word:api 0.29  word:command 0.29  word:loud 0.29
    word:mode 0.29  word:orders 0.29  word:plain 0.29  word:temperatures 0.29  word:thought 0.29
    all&lasting 0.28  have&order 0.28  norm:gets 0.28  opens:i'd-like 0.28  opens:just 0.28
    opens:please-remember 0.28  so-command&definite 0.28  we-not&bound 0.28  when+the 0.28  word:as 0.28
    word:desk 0.28  word:five 0.28  word:friday 0.28  word:invoice 0.28  word:it'll 0.28
    word:letters 0.28  word:limit 0.28  word:real 0.28  word:refer 0.28  word:replies 0.28
    word:shoes 0.28  word:story 0.28  word:street 0.28  word:with 0.28  act:hand>general 0.27
    opens:please-don't 0.27  opens:we're-a 0.27  plain&body 0.27  so-&past 0.27  so-command&task 0.27
    so-it&so 0.27  third&now 0.27  when&mine 0.27  word:alone 0.27  word:british 0.27  word:form 0.27
    word:saturday 0.27  word:year 0.27  ban>me 0.26  opens-fragment&plan 0.26  opens:i'd-rather 0.26
    opens:i-told 0.26  polite&mine 0.26  polite&order 0.26  so-&bound 0.26  so-&so 0.26
    stop>particular 0.26  wish&order 0.26  wish-you&cond 0.26  wish-you&order 0.26  word:alcohol 0.26
    word:code 0.26  word:do 0.26  word:father 0.26  word:fix 0.26  word:hour 0.26  word:legacy 0.26
    word:quotes 0.26  word:version 0.26  word:within 0.26  has:dislike 0.25  opens:i've 0.25
    please-command&mine 0.25  prep&order 0.25  so-self&definite 0.25  when&now 0.25  word:baby 0.25
    word:changes 0.25  word:dates 0.25  word:daughter's 0.25  word:didn't 0.25  word:ever 0.25
    word:examples 0.25  word:metric 0.25  word:mum 0.25  word:public 0.25  word:salary 0.25
    word:title 0.25  has:so-self 0.24  it&order 0.24  main:you 0.24  opens:the-kids 0.24  opens:you 0.24
    the&now 0.24  verbless&now 0.24  word:expect 0.24  word:eye 0.24  word:floor 0.24  word:knee 0.24
    word:numbered 0.24  word:play 0.24  word:tables 0.24  word:touch 0.24  frame&task 0.23  has:ban 0.23
    has:so-it 0.23  main:am 0.23  opens:is 0.23  wish&so 0.23  word:already 0.23  word:bank 0.23
    word:clients 0.23  word:forward 0.23  word:minutes 0.23  word:recipes 0.23  word:should 0.23
    word:slides 0.23  word:went 0.23  about:served 0.22  act:conduct>me 0.22  frame&body 0.22
    has:so-plain 0.22  have&norm 0.22  likes&mine 0.22  opens:i'd-appreciate 0.22  opens:no-need 0.22
    please-&soft 0.22  self&third 0.22  so-plain&norm 0.22  verbless&bound 0.22  word:decide 0.22
    word:give 0.22  word:instructions 0.22  word:manager 0.22  word:patients 0.22  word:printer 0.22
    word:respond 0.22  word:schools 0.22  word:shellfish 0.22  word:stairs 0.22  word:them 0.22
    allow&topic 0.21  opens:always 0.21  opens:never 0.21  opens:you-may 0.21  role&bound 0.21
    self&plan 0.21  so-all&norm 0.21  so-ban&so 0.21  so-it&topic 0.21  verbless&plan 0.21  word:keep 0.21
    word:know 0.21  word:lock 0.21  word:place 0.21  word:she 0.21  word:surprise 0.21  word:warnings 0.21
    word:yes 0.21  word:you 0.21  dislike&generic 0.20  dislike&mine 0.20  has:so- 0.20  has:so-asks 0.20
    none&body 0.20  none&order 0.20  none&third 0.20  opens:leave 0.20  opens:you-can 0.20
    so-asks&so 0.20  word:files 0.20  word:options 0.20  word:page 0.20  word:stick 0.20  word:ten 0.20
    word:voice 0.20  word:window 0.20  word:work 0.20  ask:ensure 0.19  asks&third 0.19
    command>yours 0.19  frame&so 0.19  main:polite 0.19  none&please 0.19  opens:put-the 0.19
    please-command&bound 0.19  polite&third 0.19  role&mine 0.19  so-none&order 0.19  tail:please 0.19
    the&norm 0.19  unable&so 0.19  whatever&mine 0.19  when+it 0.19  word:anywhere 0.19  word:card 0.19
    word:mood 0.19  word:sources 0.19  word:sunday 0.19  word:using 0.19  ban&plan 0.18
    has:please-ban 0.18  it&topic 0.18  no:hypothetical 0.18  norm:be-to 0.18  opens:any 0.18
    opens:i 0.18  opens:in-this 0.18  please-ban&please 0.18  polite&topic 0.18  prep+polite 0.18
    stop:conduct 0.18  to:doing 0.18  word:b 0.18  word:caffeine 0.18  word:calls 0.18  word:days 0.18
    word:exclamation 0.18  word:failed 0.18  word:gets 0.18  word:house 0.18  word:i'd 0.18
    word:luggage 0.18  word:promise 0.18  word:standing 0.18  word:water 0.18  act:hand>plural 0.17
    dislike&so 0.17  has:plain 0.17  have&lasting 0.17  none&generic 0.17  opens:make-sure 0.17
    opens:my 0.17  opens:please-be 0.17  opens:use-my 0.17  opens:use-the 0.17  opens:you're-not 0.17
    please-ban&mine 0.17  please-command&order 0.17  prep&question 0.17  prep+command 0.17
    so-command&topic 0.17  so-fragment&topic 0.17  so-self&generic 0.17  so-wish&body 0.17  we&topic 0.17
    we-not&topic 0.17  word:confirm 0.17  word:dark 0.17  word:database 0.17  word:describe 0.17
    word:draft 0.17  word:functions 0.17  word:matters 0.17  word:neighbour 0.17  word:sign 0.17
    word:tabs 0.17  word:that's 0.17  act:other>bare 0.16  act:other>one 0.16  act:style>particular 0.16
    ban>mine 0.16  no:guess 0.16  none&past 0.16  opens:remind 0.16  opens:remind-me 0.16  opens:try 0.16
    prep+none 0.16  so-wish&generic 0.16  whatever&definite 0.16  wish&soft 0.16  word:better 0.16
    word:he 0.16  word:lost 0.16  word:money 0.16  word:nobody 0.16  word:right 0.16  word:seat 0.16
    about:manner 0.15  act:hand>me 0.15  command:hand 0.15  has:please- 0.15  has:third 0.15
    have&definite 0.15  it&cond 0.15  likes&order 0.15  must&norm 0.15  opens:i-get 0.15
    please-&please 0.15  so-prep&so 0.15  stop:other 0.15  word:adding 0.15  word:bad 0.15
    word:because 0.15  word:bug 0.15  word:did 0.15  word:drink 0.15  word:endpoint 0.15  word:oven 0.15
    word:restaurants 0.15  word:source 0.15  word:tired 0.15  word:you'd 0.15  ban&mine 0.14
    has:name 0.14  has:wish-you 0.14  main:whatever 0.14  main:wish-you 0.14  mine&so 0.14
    prep&generic 0.14  role&lasting 0.14  so-command&lasting 0.14  whatever+whatever 0.14  word:allow 0.14
    word:case 0.14  word:dentist 0.14  word:heart 0.14  word:printed 0.14  word:production 0.14
    allow&so 0.13  frame&lasting 0.13  has:so-allow 0.13  mine&please 0.13  must&cond 0.13
    opens:i've-got 0.13  please-command&lasting 0.13  prep&so 0.13  so-allow&so 0.13  so-command&cond 0.13
    verbless&order 0.13  whatever&bound 0.13  word:along 0.13  word:both 0.13  word:husband 0.13
    word:legal 0.13  word:level 0.13  word:manual 0.13  word:monday 0.13  word:offer 0.13
    word:partner 0.13  word:school 0.13  word:shorten 0.13  am&cond 0.12  main:the 0.12  name&please 0.12
    none&mine 0.12  opens:ask-me 0.12  opens:could 0.12  opens:do-not 0.12  opens:you-don't 0.12
    prep&task 0.12  so-plain&order 0.12  stop&bound 0.12  the&plan 0.12  we&bound 0.12  whatever&cond 0.12
    when&past 0.12  word:asleep 0.12  word:aunt 0.12  word:berlin 0.12  word:cars 0.12  word:does 0.12
    word:each 0.12  word:gluten 0.12  word:here 0.12  word:if 0.12  word:include 0.12  word:means 0.12
    word:often 0.12  word:otherwise 0.12  word:phone 0.12  word:rules 0.12  word:song 0.12
    word:welcome 0.12  act:conduct>general 0.11  cond:i-say 0.11  has:the 0.11  no:habit 0.11
    only&past 0.11  opens:every 0.11  opens:give-me 0.11  opens:no-more 0.11  opens:one 0.11
    please-&lasting 0.11  so-plain&plan 0.11  so-wish&topic 0.11  stop:style 0.11  we-not&lasting 0.11
    word:appear 0.11  word:asthma 0.11  word:homework 0.11  word:lists 0.11  word:meals 0.11
    word:photos 0.11  word:private 0.11  word:vegan 0.11  word:weeks 0.11  ban&please 0.10
    bound:noto 0.10  command&plan 0.10  command&task 0.10  has:so-whatever 0.10  has:unable 0.10
    likes&bound 0.10  main:let 0.10  opens:give 0.10  opens:it's 0.10  opens:my-boss 0.10
    opens:prefer 0.10  opens:what-i 0.10  prep&cond 0.10  so-ban&bound 0.10  so-ban&generic 0.10
    so-whatever&generic 0.10  so-whatever&so 0.10  stop&lasting 0.10  verbless&cond 0.10  whatever&so 0.10
    wish&cond 0.10  word:colour 0.10  word:contact 0.10  word:deadline 0.10  word:evening 0.10
    word:makes 0.10  word:pm 0.10  word:spoilers 0.10  word:trains 0.10  word:wrong 0.10
    act:conduct>plural 0.09  act:style>bare 0.09  fragment&definite 0.09  has:so-prep 0.09
    name&bound 0.09  norm:needs 0.09  opens:as-a 0.09  opens:if-i 0.09  polite&generic 0.09  prep+it 0.09
    word:any 0.09  word:async 0.09  word:came 0.09  word:costs 0.09  word:deep 0.09  word:face 0.09
    word:flights 0.09  word:fly 0.09  word:nights 0.09  word:script 0.09  word:titles 0.09  word:too 0.09
    act:feel>general 0.08  all&third 0.08  allow&bound 0.08  allow&cond 0.08  command&body 0.08
    command&topic 0.08  has:opens-fragment 0.08  have&soft 0.08  main:none 0.08  norm:should 0.08
    opens:until 0.08  please-ban&so 0.08  so-fragment&bound 0.08  so-fragment&generic 0.08  stop&so 0.08
    verbless&so 0.08  whatever&order 0.08  word:calling 0.08  word:clarifying 0.08  word:deaf 0.08
    word:drive 0.08  word:everywhere 0.08  word:grams 0.08  word:kept 0.08  word:shell 0.08
    word:suggesting 0.08  word:texts 0.08  word:this 0.08  word:we 0.08  word:wine 0.08
    fragment&please 0.07  let&cond 0.07  likes&generic 0.07  main:it 0.07  main:must 0.07  mine&mine 0.07
    no:modal-self 0.07  opens-fragment&third 0.07  opens:if-a 0.07  opens:remember-to 0.07
    opens:unless 0.07  opens:we're 0.07  please-ban&topic 0.07  prep&body 0.07  so-command&order 0.07
    so-whatever&cond 0.07  so-wish&so 0.07  wish&bound 0.07  word:bullet 0.07  word:carry 0.07
    word:correct 0.07  word:garlic 0.07  word:live 0.07  word:own 0.07  word:question 0.07
    word:sentence 0.07  word:spelling 0.07  word:sugar 0.07  word:through 0.07  word:till 0.07
    you&bound 0.07  act:hand>way 0.06  am&order 0.06  asks&so 0.06  has:so-stop 0.06  let&generic 0.06
    likes&past 0.06  opens:i-go 0.06  opens:i-take 0.06  opens:if-they 0.06  opens:round 0.06
    opens:speak 0.06  opens:would-you 0.06  please-&definite 0.06  prep+plain 0.06  so-command&plan 0.06
    so-fragment&past 0.06  so-stop&cond 0.06  so-stop&so 0.06  so-stop&topic 0.06  so-wish&norm 0.06
    verbless&mine 0.06  word:away 0.06  word:banned 0.06  word:class 0.06  word:company 0.06
    word:explanations 0.06  word:go 0.06  word:guests 0.06  word:lead 0.06  word:nearly 0.06
    word:nickname 0.06  word:paragraphs 0.06  word:signed 0.06  word:surgery 0.06  word:way 0.06
    am&now 0.05  fragment&past 0.05  opens:no 0.05  self&definite 0.05  word:choose 0.05
    frame&question -0.05  has:so-unable -0.05  name&generic -0.05  opens:do -0.05  opens:i'm-in -0.05
    opens:i-was -0.05  opens:with -0.05  so-self&topic -0.05  so-unable&topic -0.05  we&now -0.05
    wish&past -0.05  word:lottery -0.05  word:said -0.05  act:feel>particular -0.06  dislike&now -0.06
    has:must -0.06  it&please -0.06  let&soft -0.06  must&order -0.06  must&past -0.06  no:definite -0.06
    only&generic -0.06  opens:don't-be -0.06  role&soft -0.06  so-am&generic -0.06  so-am&topic -0.06
    so-command&mine -0.06  so-wish&past -0.06  the&question -0.06  third&cond -0.06  we&plan -0.06
    we-not&generic -0.06  word:avoid -0.06  word:distances -0.06  word:gone -0.06  word:matter -0.06
    word:olives -0.06  word:patient -0.06  word:restaurant -0.06  word:shows -0.06  word:terms -0.06
    word:works -0.06  word:worry -0.06  you&soft -0.06  act:conduct>one -0.07  all&soft -0.07
    ban>bare -0.07  fragment&soft -0.07  has:role -0.07  has:so-command -0.07  only&norm -0.07
    opens:add -0.07  opens:going-forward -0.07  please-stop&definite -0.07  wish-you&mine -0.07
    word:asking -0.07  word:bakery -0.07  word:budget -0.07  word:delete -0.07  word:screens -0.07
    word:sorry -0.07  word:thank -0.07  word:tone -0.07  am&bound -0.08  am&question -0.08  has:wish -0.08
    opens:everyone -0.08  opens:going -0.08  opens:i-always -0.08  opens:please-keep -0.08
    plain&question -0.08  so-&topic -0.08  third&soft -0.08  when&please -0.08  word:according -0.08
    word:apparently -0.08  word:cheese -0.08  word:country -0.08  word:euros -0.08  word:green -0.08
    word:hear -0.08  word:kitchen -0.08  word:light -0.08  word:move -0.08  word:password -0.08
    word:requires -0.08  word:running -0.08  word:salt -0.08  word:save -0.08  word:somewhere -0.08
    word:spent -0.08  word:teacher -0.08  word:who -0.08  asks&task -0.09  command&please -0.09
    frame&past -0.09  has:so-all -0.09  mine&order -0.09  opens:at -0.09  opens:my-phone -0.09
    opens:the-airline -0.09  plain&cond -0.09  plain&soft -0.09  prep+am -0.09  so-&generic -0.09
    so-all&generic -0.09  so-all&so -0.09  so-self&order -0.09  unable&third -0.09  we&cond -0.09
    when+command -0.09  wish&task -0.09  word:am -0.09  word:coach -0.09  word:dogs -0.09  word:exam -0.09
    word:max -0.09  word:most -0.09  word:show -0.09  word:wrote -0.09  asks&definite -0.10
    has:so-am -0.10  have&past -0.10  no:going -0.10  opens-fragment&soft -0.10  opens:thanks-for -0.10
    plain&task -0.10  verbless&third -0.10  word:ate -0.10  word:bigger -0.10  word:buying -0.10
    word:family -0.10  word:full -0.10  word:home -0.10  word:passport -0.10  word:reading -0.10
    word:recipe -0.10  word:timer -0.10  word:twice -0.10  act:style>thing -0.11  act:style>way -0.11
    asks&mine -0.11  ban:hand -0.11  command>thing -0.11  main:dislike -0.11  opens:after -0.11
    opens:don't-send -0.11  opens:it -0.11  opens:that's -0.11  opens:you-never -0.11  so-self&norm -0.11
    unable&order -0.11  word:answering -0.11  word:deck -0.11  word:favourite -0.11  word:guide -0.11
    word:lot -0.11  word:off -0.11  word:print -0.11  word:spaces -0.11  word:team -0.11  word:then -0.11
    word:they're -0.11  word:translate -0.11  word:weekends -0.11  act:feel>bare -0.12  act:style>me -0.12
    act:style>yours -0.12  allow&third -0.12  ban>thing -0.12  cond:whatever -0.12  lasts:hours -0.12
    mine&topic -0.12  must&so -0.12  none&topic -0.12  opens:i-don't -0.12  opens:my-sister -0.12
    opens:note -0.12  please-&bound -0.12  prep&plan -0.12  so-command&generic -0.12  so-we&bound -0.12
    so-wish&soft -0.12  stop&please -0.12  word:asked -0.12  word:big -0.12  word:course -0.12
    word:cups -0.12  word:eggs -0.12  word:kind -0.12  word:nine -0.12  word:nuts -0.12  word:rice -0.12
    word:skip -0.12  word:table -0.12  allow&soft -0.13  asks&question -0.13  let&past -0.13
    opens:her -0.13  opens:i'm-allergic -0.13  opens:the-sign -0.13  the&past -0.13  unable&past -0.13
    we&order -0.13  we-not&past -0.13  word:apologise -0.13  word:documents -0.13  word:down -0.13
    word:eating -0.13  word:eyes -0.13  word:folder -0.13  word:forget -0.13  word:hand -0.13
    word:liked -0.13  word:meetings -0.13  word:noon -0.13  word:planes -0.13  word:shorter -0.13
    word:turn -0.13  all&so -0.14  command>bare -0.14  command>one -0.14  it&soft -0.14
    likes&definite -0.14  only&third -0.14  opens-fragment&body -0.14  opens-fragment&definite -0.14
    opens:i-think -0.14  opens:send -0.14  opens:the-new -0.14  opens:the-rule -0.14  so-plain&past -0.14
    wish&definite -0.14  word:bus -0.14  word:cancel -0.14  word:children -0.14  word:client -0.14
    word:dinners -0.14  word:else -0.14  word:emojis -0.14  word:exams -0.14  word:has -0.14
    word:middle -0.14  word:online -0.14  word:prefer -0.14  word:rule -0.14  word:steps -0.14
    word:style -0.14  word:well -0.14  act:feel>way -0.15  am&definite -0.15  asks&plan -0.15
    it&now -0.15  mine&soft -0.15  must&soft -0.15  no:explain -0.15  opens:could-you -0.15
    polite&soft -0.15  prep+have -0.15  so-plain&mine -0.15  so-plain&topic -0.15  so-self&third -0.15
    third&order -0.15  unable&mine -0.15  when+am -0.15  wish&question -0.15  word:bit -0.15
    word:cat -0.15  word:earlier -0.15  word:onions -0.15  word:reach -0.15  word:schedule -0.15
    word:store -0.15  word:two -0.15  all&order -0.16  cond:once -0.16  have&mine -0.16  have&third -0.16
    main:mine -0.16  opens:let-me -0.16  so-self&bound -0.16  we&definite -0.16  whatever&soft -0.16
    when+ban -0.16  word:broken -0.16  word:brother -0.16  word:christmas -0.16  word:come -0.16
    word:dad -0.16  word:its -0.16  word:lie -0.16  word:logo -0.16  word:looks -0.16  word:people -0.16
    word:secret -0.16  act:style>one -0.17  has:polite -0.17  has:so-we -0.17  have&topic -0.17
    likes&soft -0.17  no:now -0.17  opens:every-time -0.17  role&generic -0.17  so-the&so -0.17
    the&soft -0.17  word:agree -0.17  word:believe -0.17  word:bring -0.17  word:care -0.17
    word:cover -0.17  word:invitation -0.17  word:links -0.17  word:part -0.17  word:silly -0.17
    word:starts -0.17  word:variable -0.17  am&generic -0.18  asks&order -0.18  mine&past -0.18
    must&third -0.18  no:it -0.18  opens:i-want -0.18  so-plain&soft -0.18  so-wish&third -0.18
    word:back -0.18  word:dog -0.18  word:perfect -0.18  word:price -0.18  word:summary -0.18
    all&definite -0.19  has:so-ban -0.19  opens:if-it -0.19  opens:you-must -0.19  prep&past -0.19
    so-the&generic -0.19  the&mine -0.19  we&generic -0.19  word:advice -0.19  word:airline -0.19
    word:board -0.19  word:breakfast -0.19  word:deploy -0.19  word:extra -0.19  word:him -0.19
    word:now -0.19  word:pay -0.19  word:recommend -0.19  word:remember -0.19  word:safe -0.19
    word:wanted -0.19  act:conduct>way -0.20  act:hand>thing -0.20  ban&order -0.20  ban&past -0.20
    has:likes -0.20  has:so-the -0.20  it&mine -0.20  opens:i-love -0.20  opens:stop -0.20  when+we -0.20
    word:bed -0.20  word:even -0.20  word:french -0.20  word:language -0.20  word:least -0.20
    word:pizza -0.20  word:rest -0.20  word:spring -0.20  word:takes -0.20  ban&lasting -0.21
    lasts:rule -0.21  likes -0.21  main: -0.21  opens-fragment&so -0.21  opens:he -0.21
    plain&lasting -0.21  wish-you&definite -0.21  word:club -0.21  word:everyone -0.21  word:flight -0.21
    word:like -0.21  word:made -0.21  word:miss -0.21  word:per -0.21  word:these -0.21  you&norm -0.21
    act:other>me -0.22  has:we-not -0.22  have&plan -0.22  it&plan -0.22  main:name -0.22
    main:we-not -0.22  name&cond -0.22  name&soft -0.22  opens:don't-let -0.22  opens:talk-to -0.22
    word:a -0.22  word:allowed -0.22  word:careful -0.22  word:contract -0.22  word:eat -0.22
    word:had -0.22  word:happens -0.22  word:later -0.22  word:note -0.22  word:so -0.22
    word:suggestions -0.22  word:weekend -0.22  you&order -0.22  ask:remember -0.23  ban&bound -0.23
    dislike&soft -0.23  it&generic -0.23  main:we -0.23  no:question -0.23  opens:a -0.23
    opens:keep -0.23  opens:talk -0.23  opens:they-must -0.23  plain&mine -0.23  plain&third -0.23
    polite&question -0.23  so-self&mine -0.23  unable&soft -0.23  word:best -0.23  word:car -0.23
    word:dull -0.23  word:feedback -0.23  word:feel -0.23  word:learned -0.23  word:questions -0.23
    word:seen -0.23  act:hand>mine -0.24  allow&generic -0.24  command>particular -0.24  has:we -0.24
    opens:in-the -0.24  plain&so -0.24  prep&norm -0.24  prep+self -0.24  self&norm -0.24  so-&mine -0.24
    third&lasting -0.24  when+stop -0.24  word:drinks -0.24  word:old -0.24  word:party -0.24
    word:policy -0.24  word:small -0.24  word:writing -0.24  it&bound -0.25  so-it&norm -0.25
    when&soft -0.25  word:could -0.25  word:date -0.25  word:file -0.25  word:new -0.25  word:pass -0.25
    you&past -0.25  asks&soft -0.26  main:fragment -0.26  name&topic -0.26  only&definite -0.26
    opens-fragment&past -0.26  opens:i'm-not -0.26  polite&task -0.26  third&generic -0.26  wish&now -0.26
    word:funny -0.26  word:ideas -0.26  word:kids -0.26  word:option -0.26  word:pets -0.26
    word:summer -0.26  word:the -0.26  word:tuesday -0.26  word:wants -0.26  ban&generic -0.27
    has:am -0.27  opens:take -0.27  so-wish&mine -0.27  word:black -0.27  word:format -0.27
    word:hot -0.27  word:let's -0.27  word:little -0.27  word:or -0.27  word:rains -0.27  word:room -0.27
    opens:by-the -0.28  opens:everything -0.28  opens:explain -0.28  please-command&definite -0.28
    prep&soft -0.28  stop&soft -0.28  we&norm -0.28  when&question -0.28  word:call -0.28  word:into -0.28
    word:lose -0.28  word:main -0.28  word:many -0.28  word:swim -0.28  frame&order -0.29
    frame&soft -0.29  name&now -0.29  no:reported -0.29  none&norm -0.29  opens:answer -0.29
    opens:oh -0.29  self&past -0.29  the&bound -0.29  the&please -0.29  verbless&past -0.29
    when&order -0.29  word:function -0.29  word:got -0.29  word:it's -0.29  word:more -0.29  word:oh -0.29
    word:see -0.29  word:shop -0.29  word:sleep -0.29  word:whenever -0.29  word:won -0.29
    asks&topic -0.30  ban:feel -0.30  have&bound -0.30  no:plan -0.30  opens:before -0.30
    please-command&soft -0.30  polite&definite -0.30  self&generic -0.30  so-ban&topic -0.30
    wish:one -0.30  word:can -0.30  word:close -0.30  word:thinking -0.30  command:conduct -0.31
    opens:i-hate -0.31  opens:i-won't -0.31  opens:my-rule -0.31  opens:we-always -0.31
    opens:you-should -0.31  when&norm -0.31  word:bread -0.31  word:june -0.31  word:meal -0.31
    word:prefers -0.31  word:report -0.31  word:single -0.31  word:sister -0.31  word:tea -0.31
    word:try -0.31  word:whether -0.31  main:prep -0.32  opens-fragment&mine -0.32  opens:call-me -0.32
    opens:for-the -0.32  opens:from -0.32  prep+prep -0.32  prev:fact -0.32  verbless&soft -0.32
    when&body -0.32  word:break -0.32  word:friend -0.32  word:future -0.32  word:quit -0.32
    word:read -0.32  word:shouldn't -0.32  word:trying -0.32  word:win -0.32  act:conduct>bare -0.33
    act:hand>particular -0.33  am&please -0.33  plain&order -0.33  word:birthday -0.33  word:done -0.33
    word:euro -0.33  word:everybody -0.33  word:on -0.33  word:that -0.33  word:until -0.33
    act:style>general -0.34  asks&bound -0.34  has:please-only -0.34  no:fact -0.34
    opens:please-only -0.34  please-only&bound -0.34  please-only&please -0.34  please-only&topic -0.34
    word:bought -0.34  word:share -0.34  word:wear -0.34  word:words -0.34  word:you've -0.34
    no:generic-you -0.35  only&now -0.35  polite&plan -0.35  so-ban&mine -0.35  the&so -0.35
    word:beach -0.35  word:happy -0.35  word:park -0.35  word:points -0.35  am&third -0.36
    main:self -0.36  opens:can-you -0.36  opens:don't-tell -0.36  opens:i-prefer -0.36  opens:they -0.36
    word:another -0.36  word:eight -0.36  word:lift -0.36  command:other -0.37  must&bound -0.37
    opens:each -0.37  opens:please-do -0.37  prep+fragment -0.37  word:it -0.37  word:will -0.37
    am&lasting -0.38  has:only -0.38  have&generic -0.38  main:command -0.38  only&bound -0.38
    opens:i-never -0.38  stop>way -0.38  word:let -0.38  word:month -0.38  word:trip -0.38
    opens:book -0.39  opens:i'll -0.39  opens:please -0.39  self&lasting -0.39  word:flat -0.39
    word:train -0.39  word:visit -0.39  word:white -0.39  ban>one -0.40  command&norm -0.40
    opens:so -0.40  opens:whenever-you -0.40  polite&bound -0.40  when&bound -0.40  wish&plan -0.40
    word:how -0.40  word:late -0.40  word:review -0.40  word:town -0.40  word:watch -0.40
    act:hand>one -0.41  self&cond -0.41  when+self -0.41  word:being -0.41  it&norm -0.42  no:past -0.42
    opens:only -0.42  word:act -0.42  word:books -0.42  ban>general -0.43  command>me -0.43
    mine&lasting -0.43  mine&plan -0.43  opens:as -0.43  opens:be -0.43  word:beer -0.43
    word:during -0.43  word:easy -0.43  word:loved -0.43  matters -0.44  word:colours -0.44
    word:dinner -0.44  word:mondays -0.44  word:push -0.44  word:quick -0.44  word:temp -0.44
    word:we'll -0.44  has:prep -0.45  has:so-you -0.45  opens:good -0.45  opens:leave-the -0.45
    please-&order -0.45  self&now -0.45  so-you&so -0.45  word:key -0.45  word:paint -0.45
    word:simple -0.45  word:such -0.45  word:three -0.45  word:you're -0.45  act:other>way -0.46
    none&definite -0.46  opens:whenever -0.46  word:book -0.46  word:meet -0.46  word:next -0.46
    word:th -0.46  word:why -0.46  opens:only-the -0.47  opens:that -0.47  stop&definite -0.47
    when&generic -0.47  word:look -0.47  ban>way -0.48  has:self -0.48  prep&bound -0.48  word:maybe -0.48
    act:other>general -0.49  only&please -0.49  word:bold -0.49  word:jokes -0.49  ban:style -0.50
    main:ban -0.50  only&topic -0.50  opens:can -0.50  opens:i'd-prefer -0.50  opens:in -0.50
    when&lasting -0.50  word:their -0.50  self&mine -0.51  unable&bound -0.51  word:around -0.51
    word:check -0.51  word:far -0.51  word:were -0.51  opens-fragment&cond -0.53  word:about -0.53
    word:his -0.53  word:much -0.53  word:usually -0.53  word:would -0.53  stop:halt -0.54
    word:film -0.54  am&soft -0.55  word:been -0.56  word:of -0.56  word:sure -0.56  word:think -0.56
    fragment&mine -0.57  opens:by -0.57  none&soft -0.58  prep+ban -0.58  word:cake -0.58
    word:going -0.58  word:help -0.58  word:important -0.58  self&soft -0.59  ban&third -0.60
    opens:if-you -0.60  word:hard -0.60  command&definite -0.61  only&order -0.61  unable&generic -0.61
    word:answer -0.61  word:buy -0.61  word:job -0.61  self&order -0.62  word:idea -0.62
    word:worries -0.62  frame&bound -0.63  no:occasion -0.63  opens:call -0.63  word:appreciate -0.63
    word:soon -0.63  it&definite -0.64  mine&generic -0.64  opens:nothing -0.64  word:data -0.64
    word:having -0.64  word:to -0.64  no:praise -0.65  none&bound -0.65  word:ask -0.65  word:i'll -0.65
    word:make -0.65  word:others -0.65  word:soup -0.65  opens:don't -0.66  word:her -0.66
    word:wedding -0.66  word:nice -0.67  no:looking -0.68  opens:keep-the -0.68  please-ban&bound -0.68
    word:friends -0.68  word:was -0.68  short -0.69  frame&please -0.70  word:trouble -0.70
    word:while -0.70  am&plan -0.71  has:it -0.71  word:and -0.71  word:life -0.71  word:order -0.71
    word:good -0.73  please-ban&generic -0.74  word:set -0.74  you&so -0.74  main:third -0.75
    word:last -0.75  main:only -0.76  word:doing -0.76  word:start -0.76  word:trust -0.76
    opens:use -0.77  word:there -0.77  no:turn-task -0.78  no:opinion -0.79  word:those -0.79
    word:different -0.80  frame&now -0.81  when&plan -0.82  please-command&topic -0.83  word:making -0.83
    no:advice -0.84  word:again -0.85  am&mine -0.86  command&soft -0.86  opens:thanks -0.86
    no:artefact -0.87  word:have -0.87  word:helps -0.87  word:long -0.90  word:love -0.90
    word:wait -0.90  plain&generic -0.91  word:times -0.91  word:other -0.92  word:thanks -0.94
    word:always -0.99  word:your -0.99  frame&definite -1.01  against:1 -1.02  command&now -1.04
    word:something -1.04  wish&mine -1.06  word:all -1.07  word:just -1.09  word:but -1.12
    frame&norm -1.13  against:2 -1.19  has:fragment -1.19  no:comfort -1.23  word:never -1.25
    few-words -1.29  wish:to-do -1.33  word:some -1.33  against:3 -1.39  word:great -1.43
    word:really -1.50  directs:nobody -1.59  word:time -1.59
"""


def _read_table() -> dict[str, float]:
    words = _TABLE.split()
    return {cue: float(weight) for cue, weight in zip(words[::2], words[1::2], strict=True)}


WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(_read_table())
