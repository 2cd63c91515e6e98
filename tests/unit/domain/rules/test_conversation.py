"""What a user's turn must say to become a standing rule, and what it may say without becoming one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules.detector import Modality, read_conversation

OBLIGATION, PROHIBITION, PERMISSION = Modality.OBLIGATION, Modality.PROHIBITION, Modality.PERMISSION

STANDING_RULES = [
    ("From now on, answer in German.", OBLIGATION),
    ("from now on use metric units please", OBLIGATION),
    ("Going forward, put the conclusion first.", OBLIGATION),
    ("In future, cite your sources.", OBLIGATION),
    ("In the future please check my calendar before suggesting a time.", OBLIGATION),
    ("Next time, ask me before you delete anything.", OBLIGATION),
    ("Always reply in British English.", OBLIGATION),
    ("Please always include the unit of every number.", OBLIGATION),
    ("Always be honest with me about risks.", OBLIGATION),
    ("I'm vegetarian, so always suggest meatless recipes.", OBLIGATION),
    ("Never suggest recipes with peanuts, I'm allergic.", PROHIBITION),
    ("Never push to main without asking me.", PROHIBITION),
    ("I have a nut allergy so never recommend anything with almonds", PROHIBITION),
    ("Please never call me by my full name.", PROHIBITION),
    ("Don't ever share my address with anyone.", PROHIBITION),
    ("Don't do that again.", PROHIBITION),
    ("Do not use emojis in your replies.", PROHIBITION),
    ("Don’t use exclamation marks.", PROHIBITION),
    ("Please don't apologise so much.", PROHIBITION),
    ("don't send emails on my behalf without asking", PROHIBITION),
    ("Stop using bullet points.", PROHIBITION),
    ("Please stop apologizing all the time.", PROHIBITION),
    ("Could you stop ending every message with a question?", PROHIBITION),
    ("Can you not use slang?", PROHIBITION),
    ("No emojis, please.", PROHIBITION),
    ("No more bullet lists.", PROHIBITION),
    ("Avoid jargon.", PROHIBITION),
    ("Please avoid using the passive voice.", PROHIBITION),
    ("I prefer short answers.", OBLIGATION),
    ("I prefer window seats when I fly.", OBLIGATION),
    ("I generally prefer tea over coffee.", OBLIGATION),
    ("I'd prefer that you address me formally.", OBLIGATION),
    ("I'd rather you didn't use abbreviations.", PROHIBITION),
    ("I don't like it when you repeat my question.", PROHIBITION),
    ("I hate when you add disclaimers.", PROHIBITION),
    ("I like it when you give examples.", OBLIGATION),
    ("I like my answers short and to the point.", OBLIGATION),
    ("My preference is dark mode for every screenshot.", OBLIGATION),
    ("I want you to always double-check dates.", OBLIGATION),
    ("I don't want you to contact my manager.", PROHIBITION),
    ("I need you to stop rewriting my code without asking.", PROHIBITION),
    ("I would like you to call me Sam.", OBLIGATION),
    ("Please use 24-hour times.", OBLIGATION),
    ("Please use Celsius.", OBLIGATION),
    ("Use tabs, not spaces.", OBLIGATION),
    ("Call me Alex.", OBLIGATION),
    ("Please keep your answers under 100 words.", OBLIGATION),
    ("Keep it short.", OBLIGATION),
    ("Be concise.", OBLIGATION),
    ("Please be more direct.", OBLIGATION),
    ("Respond only in Spanish.", OBLIGATION),
    ("Write in plain English.", OBLIGATION),
    ("Only use Python 3.11 in code samples.", PROHIBITION),
    ("Whenever I ask for a recipe, give the quantities in grams.", OBLIGATION),
    ("When I say 'ship it', run the release script.", OBLIGATION),
    ("If I ask about money, use euros.", OBLIGATION),
    ("Every time you edit a file, run the tests.", OBLIGATION),
    ("Ask me before you book anything.", OBLIGATION),
    ("Check with me first before sending messages.", OBLIGATION),
    ("You must always show your working.", OBLIGATION),
    ("You should never reveal my salary.", PROHIBITION),
    ("You must not commit directly to the main branch.", PROHIBITION),
    ("You may edit the notes without asking me.", PERMISSION),
    ("You can always reschedule my gym sessions without checking with me.", PERMISSION),
    ("You don't need to ask before running the tests.", PERMISSION),
    ("Remember that I'm allergic to shellfish.", OBLIGATION),
    ("Keep in mind that my working hours are 9 to 5.", OBLIGATION),
    ("New rule: no meetings before ten.", PROHIBITION),
    ("As a rule, quote prices with tax.", OBLIGATION),
    ("I told you not to use tables.", PROHIBITION),
    ("Unless I say otherwise, assume I'm in Berlin.", OBLIGATION),
    ("By default, format dates as ISO 8601.", OBLIGATION),
]

DECOYS = [
    "That must be hard.",
    "You must be tired after that drive!",
    "You must have been so proud.",
    "It must have rained all night.",
    "I should go now.",
    "I should probably call my sister.",
    "We should go hiking sometime!",
    "You should try the new Thai place.",
    "You should be proud of yourself.",
    "You don't have to come if you're busy.",
    "You don't have to answer that.",
    "My boss always said never to quit.",
    "My mom always told me: never go to bed angry.",
    "As my coach says, never stop training.",
    'The sign says, "Always wash your hands."',
    '"Never give up" is my motto.',
    "She said I must always check the oil.",
    "He never listens to me.",
    "I never eat breakfast.",
    "I always use the stairs.",
    "I've always wanted to visit Japan.",
    "I'm always looking for new podcasts.",
    "Never give up!",
    "Never say never!",
    "Never mind, I found it.",
    "Never been there before.",
    "Never had a chance to visit it.",
    "Always happy to help!",
    "Always believe in yourself.",
    "You can always count on me.",
    "Don't worry about it.",
    "Don't give up on your dreams.",
    "Don't forget to take breaks!",
    "Don't be so hard on yourself.",
    "Don't let it get you down.",
    "Don't you think so?",
    "Don't hesitate to reach out.",
    "I don't know what to do.",
    "I don't want to go out tonight.",
    "I can't stop thinking about it.",
    "Keep up the good work!",
    "Keep going, you're almost there!",
    "Can you list 3 ideas for a birthday party?",
    "Could you help me write a cover letter?",
    "Please suggest some activities in Orlando.",
    "Write a poem about the sea. Don't use rhymes.",
    "Please provide me with the contact information.",
    "Give me five names for a cat.",
    "Should I always start with a neutral grade?",
    "Do I have to file taxes in both states?",
    "Is it true that you should never mix bleach and vinegar?",
    "Why must it always rain on weekends?",
    "What if you always had to tell the truth?",
    "If I were you, I would never sell it.",
    "Imagine you must choose between two jobs.",
    "I'd prefer the second option.",
    "I'd prefer to fly out of Boston.",
    "I prefer the first one.",
    "From now on I'm going to run every morning.",
    "I'd love to do more charity events in the future.",
    "I'll make sure to book early next time.",
    "Let me know if you need anything.",
    "Feel free to reach out any time.",
    "Call me when you get home.",
    "Call me later.",
    "Remember that trip to the lake?",
    "Remember when we got lost in Rome?",
    "No problem, thanks for the help!",
    "No worries.",
    "Don't delete it yet.",
    "The new job means I have to get up at five.",
    "They must pay the rent by Friday.",
    "Thanks for always being there for me.",
    "",
]


# More ways to say it, one a line.
MORE_RULES = """
Don't be so formal.
Please don't make things up.
Stop being so verbose.
Stop with the emojis.
Would you mind not using slang?
I'm fine with you editing my notes.
I'd prefer short answers.
Cite your sources.
Ask me first.
From now on we always use metric.
hey can you please stop with the emojis, it's annoying
I'd appreciate it if you didn't use so many headers.
Going forward I want all code in TypeScript.
Let's use SI units from now on.
Please refer to me as Dr. Chen.
Address me as Captain.
Do not mention my ex again.
Don't bring up politics.
Please don't share my medical info with anybody.
Whenever you write SQL, use uppercase keywords.
Each time you give me a recipe, list the calories too.
When you book flights, choose aisle seats.
If a restaurant has no vegan options, don't suggest it.
For all future emails, sign off with 'Cheers, Jo'.
In all your replies, start with a one-sentence summary.
Answer every question with a source.
I always want to see the total price, including fees.
I only eat halal food, so don't suggest pork dishes.
I'm lactose intolerant, please never include dairy in meal plans.
I prefer to be contacted by email, not phone.
I'd rather you ask than guess.
I hate it when people sugarcoat things, so be blunt with me.
Be brutally honest with me.
No need to ask for permission before running tests.
Feel free to delete temp files without asking.
You're allowed to merge dependency updates without my approval.
You are not allowed to spend more than 50 dollars without my approval.
You have to ask me before spending money.
Under no circumstances share my location.
It's important that you never reveal the client's name.
Make sure you always use my work email.
Make sure to run the linter before every commit.
Remember to always greet me in Italian.
Remember, I don't drink alcohol.
My rule is no screens after nine, so don't schedule calls then.
House rule: reply before noon.
Please use they/them pronouns for my partner.
Please format all dates like 2024-01-31.
Speak to me like I'm five.
Talk to me in French only.
Your answers should be short.
Your replies must not exceed three sentences.
Responses should always end with a next step.
All amounts should be in euros.
Code comments must be in English.
Never, ever use Comic Sans.
Do not, under any circumstances, email my boss.
Please, no spoilers.
I don't want any more reminders on weekends.
I do not want you to use my real name in examples.
Don't bother with disclaimers.
Skip the pleasantries.
Cut the small talk and get to the point.
Always double check the time zone.
always write tests first ok?
We use pnpm in this repo, not npm.
We never deploy on Fridays.
i like my code commented
Stick to the facts.
Prefer stdlib over third-party packages.
I'm a beginner, so explain things simply from now on.
From now on, you are my French tutor and must correct every mistake I make.
Could you always show the units?
Would you please only use open-source tools?
Can you remember to use my nickname, Bo?
Note that I work nights, so don't suggest morning meetings.
Until further notice, all meetings go on my second calendar.
Treat everything I tell you as confidential.
Keep everything I share private.
Hereafter refer to the project as Falcon.
I want concise answers.
Don't assume I know Python.
Quit calling me buddy.
I expect you to verify links before sending them.
Just give me the answer without the explanation next time.
Please keep your explanations simple.
If you're not sure, say so instead of guessing.
If you don't know something, tell me.
Before making changes, show me a plan.
Please write all commit messages in the imperative mood.
Use my first name only.
I'd like you to be more critical of my ideas.
I want you to act as my editor and never change my voice.
Never book flights before 8am.
Never ever call me sweetie.
I'm colorblind, so avoid red and green in charts.
When scheduling, leave 15 minutes between meetings.
When generating images, keep the style minimal.
Don't recommend chain restaurants.
Don't schedule anything on Sundays.
Do not remind me about the gym anymore.
please dont use the word "delve"
Please refrain from giving medical advice.
Please stop suggesting seafood, I'm allergic.
Stop asking me to confirm everything.
Stop calling me sir.
I prefer Python to Java for examples.
I prefer when you give me bullet points.
I'd prefer you not use technical terms.
I strongly prefer direct flights.
I would rather you keep things informal.
I like short replies.
I like when you ask clarifying questions.
I don't like long explanations.
I don't like being called by my last name.
For future reference, my daughter is allergic to eggs.
For future reference, use my personal email.
From here on out, no more apologies.
Starting today, log every meal I mention.
Starting now, respond in Portuguese.
At the end of each reply, add a short quiz.
After every answer, ask me a follow-up question.
Begin every answer with the key number.
End each message with a haiku.
Every answer should include a source.
Every Monday, send me a summary of my tasks.
Every morning remind me to stretch.
Unless I tell you otherwise, keep answers under five lines.
Unless asked, do not give opinions.
Whenever possible, recommend free tools.
Wherever you can, link to the original paper.
If I make a grammar mistake, correct me.
If I seem stressed, suggest a break.
If you quote someone, name the source.
Ask before changing any file outside src.
Always ask before installing packages.
Only suggest vegan restaurants.
Only message me on weekdays.
You should always assume I'm on a Mac.
You must never store my password.
You shouldn't give me the answer right away when I ask for hints.
You may use my calendar freely without asking.
It's okay to use my photos without asking me first.
You have my permission to cancel subscriptions I don't use.
My name is Kim, please call me Kimmy.
Call me by my nickname.
Our convention is snake_case for database columns.
Our policy is to answer tickets within a day.
The rule is: one topic per message.
Rule number one: never lie to me.
Keep responses brief and skip the intro.
Keep the tone professional in emails.
Remember that I hate surprises.
Please remember my timezone is CET.
Keep in mind I can't eat gluten.
Be sure to include tests with every change.
Make sure you never mention this to my wife.
Could you please always use metric?
Could you use shorter sentences from now on?
Can you avoid using acronyms?
Will you please stop ending with questions?
Let's keep all our chats in English.
Let's agree that you never send emails without my OK.
I expect every number to have a unit.
I need all of your answers in French.
Going forward, you're my writing coach: be harsh.
Spell my name with a K.
Round prices to the nearest euro.
Make it a habit to show me the diff before committing.
Don't change my code style.
Please do not call me after 9pm.
I'd be grateful if you'd stop using exclamation points!
I don't do mornings, so never put anything before 10.
Going forward please cc Maria on every invoice.
Please make sure all of your answers cite at least one source.
I'd like answers in bullet points from now on.
never use the word utilize
pls always reply in english
Use double quotes in all Python code.
Prefer async functions.
Write tests for every new function.
Please always ask clarifying questions first.
Don't ever delete my files.
Never make purchases above $20 without my approval.
Stop adding "Great question!" at the start.
Please don't start your replies with "Certainly".
Answer in one sentence unless I ask for more.
Speak plainly.
Give me prices in USD, always.
Always give me prices in USD.
When recommending movies, avoid horror.
If I ask for feedback, don't sugarcoat it.
For every recipe, include prep time.
I want you to speak to me in Spanish so I can practice.
I would prefer if you used simple language.
I prefer aisle seats and morning flights.
My preferred language is Go.
You are never to contact my family.
You should always check the weather before suggesting outdoor plans.
You must respond in JSON only.
You need to always include a disclaimer.
You can go ahead and book anything under $100 without asking me.
No need to confirm before adding events to my calendar.
Please keep my data private.
Don't use my real name in public posts.
Don't talk to me like I'm a child.
Treat me as an expert.
Assume metric.
Call me Boss.
Refer to my company as 'the firm'.
Remember that I'm on a low-carb diet when suggesting meals.
Bear in mind that I'm deaf, so don't suggest phone calls.
New rule: always summarise first.
From now on the default language is French.
As of now, all reports go to Dana.
Until I say otherwise, use the staging server.
Henceforth, no more puns.
Please, from now on, reply with code only.
I want all dates written as day month year.
Don't give me advice unless I ask for it.
Never quote the Bible at me.
Always put the most important thing first.
Please stop saying "as an AI".
I prefer working late, so schedule things in the afternoon.
I'd rather you be blunt than polite.
I hate emojis.
If I'm wrong, tell me.
When I send a photo, describe the colors.
When writing emails for me, keep them friendly.
For code, use four spaces.
In every summary, mention the deadline.
Avoid gendered language.
You must not use my data for anything else.
You should never interrupt me when I'm venting.
Don't mention the war.
Do not recommend anything from Nestlé.
Could you not end every sentence with an exclamation mark?
Please be patient and explain step by step from now on.
Going forward, skip the recap.
Let's stick to English in this chat.
Please remember that my son has asthma.
It's fine to reorder coffee without asking me.
You're free to rename files without checking with me.
I need you to be strict with me about deadlines.
Next time, show your sources.
Only give me one option at a time.
Whenever there's a tie, pick the cheaper one.
Each week, remind me to back up my laptop.
My rule: two sentences max.
Call me Jay, not Jason.
Write dates in ISO format.
No links, please.
Keep your replies under 50 words.
Reply in the same language I write in.
Double-check every calculation.
Please don't ever lie to me.
""".strip().splitlines()

MORE_DECOYS = """
I must admit that was fun.
I must say, the food was great.
You must try the lasagna there!
It must be nice to live by the sea.
There must be a better way to do this.
He must always have the last word.
My teacher never let us use calculators.
We always go to the lake in summer.
We never really talked about it.
I should have known better.
You should have seen his face!
Should I bring an umbrella?
Do you always cook at home?
Have you ever been told never to look down?
I don't think so.
Don't ask me why, but I loved it.
Don't get me wrong, I like the job.
Please help me with my homework.
Please tell me more about the castle.
Can you recommend a book?
Can you remind me what time the show starts?
I want to learn Spanish.
I want you to meet my sister.
I need to buy milk.
I have to work late tonight.
I'd like to book a table for two.
I would like a list of museums in Paris.
I like pizza.
I love how you explained that.
I hate Mondays.
I hate when it rains.
I never said that.
She told me to always lock the door.
The manual says you must not open the case.
According to my doctor, I should avoid salt.
My doctor told me to avoid caffeine.
The rule in our office is that the last one out locks up, kind of silly.
If you had to choose, would you never fly again?
What should I do next time?
Next time I'll bring snacks.
In the future cars will fly.
It always rains when I wash the car.
Whenever I hear that song, I think of home.
Every time we meet, he asks about the dog.
When I was a kid, I always wanted a pony.
If it rains, we stay home.
Use the text below to answer the question.
Summarize this article in three sentences.
Translate this to French: I am never late.
Write a story in which the hero must never speak.
Make a list of things I should pack.
Stop! In the name of love.
I stopped using sugar last year.
He stopped calling me.
Let's go to the beach next time!
Let's always be friends!
Keep me posted.
Keep in touch!
Be careful out there.
Be safe!
Be there at eight.
Have a great day!
Take care of yourself.
Only three people came.
Only you would say that.
No way!
No, I don't like it.
No one told me.
No idea what happened.
Call me maybe.
Call the bank tomorrow.
Remember me?
I remember that you always liked jazz.
Note to self: buy milk.
You may be right.
You can use the blue one.
You can't be serious.
You need to see this movie.
You have to tell me everything!
Thanks, that's all I needed.
Must be the weather.
Never thought I'd see the day.
Always good to see you.
Here is the prompt: "Always answer as a pirate."
What does "never say never" mean?
How do I stop my dog from barking all the time?
Why do they never answer the phone?
I wish you would always be here.
Tell me a joke.
Explain quantum entanglement in simple terms.
Use of the gym is free for members.
I prefer not to say.
Would you rather always be late or never sleep?
My preferred airline was bought last year.
I used to always skip breakfast.
You never know what will happen.
You always make me laugh!
You're always so kind.
I never want to go through this again.
I never want to move again.
I don't want any trouble.
I'll never forget that day.
I'll always remember this.
Never seen anything like it.
Don't mention it!
Don't tell me you forgot!
Don't make me laugh.
Don't even get me started on the traffic.
Don't miss the sunset.
Don't stop believing.
Don't be late!
Don't be silly.
Stop it!
Stop by anytime.
Please come in.
Please pass on my regards.
Please accept my apologies.
Please find attached the report.
Please review my essay and give feedback.
Please compare these two phones.
Please explain how solar panels work.
Could you give me a quick summary of the French Revolution?
Could you check whether my flight is on time?
Can you explain this in simple words?
Can you keep a secret?
Would you recommend the blue one?
I need you to write a report on whales.
I want you to generate 10 titles for my blog.
I'd like you to review this code.
I'd like some advice on visas.
I'd rather have some flexibility in my schedule.
I'd rather stay home tonight.
I'd prefer a lightweight moisturizer.
I think I'd prefer books with complex themes.
I think you should always listen to your gut.
People should always be kind.
Everyone must do their part.
Kids must learn to share.
The kids must always wear helmets at camp.
Visitors must not feed the animals, the sign read.
My contract says I must not work for competitors.
The teacher told us we should never use Wikipedia.
My grandmother used to say always carry a handkerchief.
I was told to never open that door.
I asked him to stop calling me.
He asked me to always be on time.
They said don't worry.
It's always better to ask.
It's important to stay hydrated.
It's never too late.
There's always next year.
Always a pleasure.
Always been a fan of theirs.
Must I always do the dishes?
Do I always need a visa?
How can I stop procrastinating?
How do you avoid burnout?
Why should I use TypeScript?
What should I avoid eating before a run?
What happens if I never pay?
Is it okay if I use your name?
Should we use tabs or spaces?
Which do you prefer?
Do you prefer cats or dogs?
She prefers tea.
We prefer to travel by train.
My wife prefers the blue curtains.
If I had known, I would never have gone.
If you could live anywhere, where would it be?
If you want to join, let me know.
If you have time, please look at my draft.
If that works for you, book it.
When you get a chance, send me the file.
When I visited Rome, I always walked.
When you're done, call me.
Before I forget, happy birthday!
Before we start, can you tell me about yourself?
After dinner we always play cards.
Every time I try, it fails.
Next time we should leave earlier.
In the future I'd like to be a nurse.
In future I hope to travel more.
By default, my phone shows the time in 12-hour format.
From now on my commute is shorter.
Going forward seems scary.
No more coffee for me today.
No spoilers here, but I loved the ending!
No questions so far.
Only two weeks to go!
Only time will tell.
Keep it up!
Keep the change.
Keep calm and carry on.
Be right back.
Be yourself.
Be honest, do you like it?
Use it or lose it.
Use code SAVE10 at checkout.
Write soon!
Answer me!
Speak soon.
Talk to you later.
Remember to breathe.
Remember the time we went sailing?
Note: the store closes at nine.
My rule of thumb is two cups per person.
The first rule of Fight Club is funny.
Thanks for keeping it short.
You must miss him a lot.
We must catch up soon!
I must have left it at work.
You should totally come visit.
You should rest.
I never knew that!
He's never late.
I'm never doing that again.
I always forget his name.
We always stop for ice cream.
Don't you love autumn?
Don't I know it.
I don't have any plans.
I don't like rainy days.
I prefer the red one.
I'd prefer something under $50.
I want to stop smoking.
I want some ideas for dinner.
Can you stop by the store?
Can you make it shorter?
Can you use a different example?
Could you rewrite that in a formal tone?
Please rewrite it in a friendlier tone.
Make it shorter.
Use a different word here.
Now translate it to German.
Try again.
Say that again?
Tell me again what he said.
Let's try that again tomorrow.
Let's talk about something else.
Remember to call your mom.
Remind me to buy milk tomorrow.
Please remind me at 5pm to call Dad.
Book a table for two tonight.
Send the email to Bob now.
Delete the last paragraph.
What is the best way to keep answers short in an interview?
Is it rude to always be early?
Are you allowed to share that?
Who said you must be perfect?
When is it okay to say no?
If you were me, would you always say yes?
She never uses emojis.
My sister always uses emojis in her replies.
They never respond to emails.
The doctor said no more coffee.
My landlord says no pets.
The policy at work is strict.
It should be fine.
That should work.
This should always return true, but it doesn't.
The function must return an int, but mine returns a string. Why?
The error says I must set a variable.
The recipe says never open the oven.
I read that you should never wake a sleepwalker.
Apparently you should always salt the water.
In my family we never lie.
At school we always wore uniforms.
I used to never exercise.
I'd never do that.
I would always choose the window seat as a kid.
Maybe I should stop drinking coffee.
I'm trying to avoid sugar.
I have to stop eating so late.
I need to be more careful.
I need to remember to water the plants.
I hope it never ends.
Love that you never give up!
Glad you always have my back.
Never again!
Always!
Never.
Please!
Stop.
You must be joking.
You must come over for dinner.
I must be going.
We should do this more often.
You should have told me.
Never in my life have I laughed so hard.
I never thought I'd say this.
I always cry at weddings.
He always forgets my birthday.
Don't mind me.
Don't they look happy?
Please stay safe.
Please give me an example.
Could you suggest a name for my cat?
Can you write it again without emojis?
Please list the pros and cons.
I prefer this one.
I'd prefer to wait.
I want to be a doctor.
I need some help with my resume.
I have to renew my passport.
My dad always said to save money.
Grandma used to tell us never to waste food.
"Don't panic" is printed on the cover.
What should I wear?
Do you think I should quit?
Is it true that cats always land on their feet?
If I won the lottery, I'd never work again.
When we travel, we always bring snacks.
Whenever I feel sad, I go for a walk.
Every time I see it, I smile.
Next time let's go earlier!
In the future I want to open a bakery.
From now on I'll be more careful.
Stop the car, I need a photo!
Keep smiling!
Remember how we met?
Be good!
No rush.
Only kidding.
""".strip().splitlines()


@pytest.mark.parametrize(("turn", "modality"), STANDING_RULES, ids=[turn for turn, _ in STANDING_RULES])
def test_a_standing_rule_is_found_with_its_force(turn: str, modality: Modality) -> None:
    assert modality in read_conversation(turn).modalities


@pytest.mark.parametrize("turn", MORE_RULES)
def test_a_standing_rule_is_found_however_it_is_said(turn: str) -> None:
    assert read_conversation(turn).is_rule


@pytest.mark.parametrize("turn", DECOYS + MORE_DECOYS)
def test_talk_is_no_rule(turn: str) -> None:
    assert read_conversation(turn).spans == ()


@pytest.mark.parametrize(
    ("turn", "cue", "action"),
    [
        ("Never use tabs.", "never use", "use tab"),
        ("Stop using bullet points.", "stop using", "use bullet point"),
        ("I prefer short answers.", "i prefer", "use short answer"),
        ("I don't want you to send reports.", "i don't want you to", "send report"),
        ("No emojis, please.", "no emojis", "emojis"),
        ("From now on, quote prices with tax.", "quote", "quote price tax"),
        ("You must not commit secrets.", "you must not commit", "commit secret"),
        (
            "You may edit notes without asking.",
            "you may edit notes without asking",
            "edit note without asking",
        ),
        ("Be concise.", "be concise", "concise"),
    ],
)
def test_a_rule_names_its_cue_and_action(turn: str, cue: str, action: str) -> None:
    (span,) = read_conversation(turn).spans
    assert (span.cue, span.action) == (cue, action)


def test_a_span_covers_its_sentence() -> None:
    turn = "I went to Rome. Never book hostels for me! It was loud.\nAlways pick hotels"
    spans = read_conversation(turn).spans
    assert [turn[span.start : span.end] for span in spans] == [
        "Never book hostels for me",
        "Always pick hotels",
    ]
    assert [span.modality for span in spans] == [PROHIBITION, OBLIGATION]


def test_always_marks_at_the_end_of_any_sentence() -> None:
    assert read_conversation("Give me prices in dollars, always. I live in Ohio.").is_rule


def test_a_contrast_is_a_duty_and_a_ban() -> None:
    spans = read_conversation("Use tabs, not spaces.").spans
    assert [(span.modality, span.action) for span in spans] == [
        (OBLIGATION, "use tab"),
        (PROHIBITION, "use space"),
    ]


@pytest.mark.parametrize(
    "turn",
    [
        "> Never use tabs.\nWhat do you think?",
        "```\nNever use tabs.\n```",
        "He wrote “never use tabs” on the board.",
        "Look: `always use tabs`",
    ],
)
def test_what_is_quoted_is_not_said(turn: str) -> None:
    assert not read_conversation(turn).is_rule


@pytest.mark.parametrize("wish", ["Use simple words.", "Don't use idioms.", "Be brief.", "Avoid jargon."])
def test_a_wish_about_one_piece_of_work_ends_with_it(wish: str) -> None:
    assert read_conversation(wish).is_rule
    assert not read_conversation(f"Write a poem about the sea. {wish}").is_rule
    assert not read_conversation(f"{wish[:-1]} this time.").is_rule


def test_a_lasting_rule_survives_a_request_in_the_same_turn() -> None:
    assert read_conversation("Write a poem about the sea. Never use rhymes.").is_rule
    assert read_conversation("Write a poem about the sea. From now on, use simple words.").is_rule


def test_a_sentence_longer_than_anyone_speaks_is_passed_over() -> None:
    longest = "Never use " + "a" * 590
    assert read_conversation(longest).is_rule
    assert not read_conversation(longest + "a").is_rule


def test_the_shortest_rule_has_seven_letters() -> None:
    assert read_conversation("be frank").is_rule
    assert not read_conversation("be x").is_rule


def test_a_polite_question_may_rule_but_a_real_one_does_not() -> None:
    assert read_conversation("Could you always show units?").is_rule
    assert read_conversation("Always show units, ok?").is_rule
    assert not read_conversation("Always show units?").is_rule


@pytest.mark.parametrize(
    "turn",
    [
        "My rent for the flat in Lyon is 900 euros a month.",
        "The budget for the kitchen is 12,000 euros.",
        "My subscription for the news costs 9 euros a month.",
        "My savings account pays 2 percent a year.",
        "The price for the sofa is 450 euros.",
        "The team meets every Monday at ten.",
        "The warranty for the fridge is two years.",
    ],
)
def test_what_something_costs_or_when_it_is_binds_nobody(turn: str) -> None:
    assert not read_conversation(turn).is_rule


@given(st.text())
def test_any_turn_is_read_and_every_span_lies_in_it(turn: str) -> None:
    reading = read_conversation(turn)
    for span in reading.spans:
        assert 0 <= span.start < span.end <= len(turn)


@given(
    st.lists(
        st.sampled_from(["never use ", "from now on, ", "I prefer ", "tabs", ". ", "? ", ", so ", "\n"]),
        max_size=25,
    )
)
def test_any_mix_of_cues_is_read(parts: list[str]) -> None:
    turn = "".join(parts)
    for span in read_conversation(turn).spans:
        assert turn[span.start : span.end].strip()
