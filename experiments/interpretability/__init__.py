"""Do maps find the routes of systems whose routes are known?"""
