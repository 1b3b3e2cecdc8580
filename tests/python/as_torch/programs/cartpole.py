"""Gym's CartPole in NumPy: a pole on a cart that is pushed to the left or to the right."""

import numpy as np


class CartPole:
    gravity, cart, pole, half_length, push, tau = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def reset(self, seed=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.state, self.steps = self.rng.uniform(-0.05, 0.05, 4), 0
        return self.state.astype(np.float32), {}

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = self.push if action == 1 else -self.push
        total, moment = self.cart + self.pole, self.pole * self.half_length
        cosine, sine = np.cos(theta), np.sin(theta)
        common = (force + moment * theta_dot**2 * sine) / total
        turn = (self.gravity * sine - cosine * common) / (
            self.half_length * (4.0 / 3.0 - self.pole * cosine**2 / total)
        )
        slide = common - moment * turn * cosine / total
        self.state = np.array(
            [
                x + self.tau * x_dot,
                x_dot + self.tau * slide,
                theta + self.tau * theta_dot,
                theta_dot + self.tau * turn,
            ]
        )
        self.steps += 1
        over = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * np.pi / 180)
        return self.state.astype(np.float32), 1.0, over, self.steps >= 200, {}
