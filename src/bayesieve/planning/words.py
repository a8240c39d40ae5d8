def check_effects(x): pass
