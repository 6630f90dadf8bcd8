def split_words(text):
    return text.lower().replace(",", " ").split()
