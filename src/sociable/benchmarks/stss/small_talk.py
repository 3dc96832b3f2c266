"""What people without a model say when they have nothing to tell."""

OPENINGS = (
    "Morning. You look as if you had slept, which is more than I can say.",
    "There you are. I was just thinking about the price of leeks.",
    "Hello. Mind the step, it is slippery today.",
    "Have you got a minute? No? Nor have I. How are things?",
    "You have had your hair cut, or you have not. Something is different.",
    "What a wind. My hat is in the river, I should think.",
    "I could do with a hot drink. And you?",
    "Nice to see a face that is not on an invoice.",
    "Did you hear the foghorn in the night?",
    "Well, if it is not you. Busy?",
    "They say it will freeze again before the week is out.",
    "I owe you a conversation, I believe. Here it is.",
    "Has the post come at your end?",
    "My knees tell me it is going to rain. They are seldom wrong.",
    "You would not believe what I paid for a light bulb.",
    "Good to see you. I have been talking to myself since seven.",
)

REPLIES = (
    "Oh, the usual, and then the other thing as well.",
    "Can't complain. I do, but I can't.",
    "Well enough. The days are getting longer, if you look closely.",
    "Tired, but in a good way.",
    "Much the same as yesterday, only with more gulls.",
    "Don't get me started, I have to be somewhere.",
    "Better now that the heating works.",
    "Yes, I noticed that too.",
    "Ask me again in spring.",
    "I have been worse, and warmer.",
    "You know how it is: one thing mended, the next one drips.",
    "All right. My sister rang for an hour, so I am up to date with everything.",
)

CLOSINGS = (
    "Well, I must get on. Take care.",
    "I won't keep you. Mind how you go.",
    "Right, back to it. See you about.",
    "Good talking to you.",
    "I had better go before I forget what I came for.",
    "Give my regards to everybody.",
    "Until next time, then.",
    "Off I go. Keep warm.",
)
