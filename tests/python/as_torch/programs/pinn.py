"""A physics-informed net: Burgers' equation, by second derivatives, with Adam and then L-BFGS."""

from collections import OrderedDict

import numpy as np
import torch
from common import RNG, report, seeded

device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


class DNN(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.depth = len(layers) - 1
        self.activation = torch.nn.Tanh
        layer_list = list()
        for i in range(self.depth - 1):
            layer_list.append((f"layer_{i}", torch.nn.Linear(layers[i], layers[i + 1])))
            layer_list.append((f"activation_{i}", self.activation()))
        layer_list.append((f"layer_{self.depth - 1}", torch.nn.Linear(layers[-2], layers[-1])))
        self.layers = torch.nn.Sequential(OrderedDict(layer_list))

    def forward(self, x):
        return self.layers(x)


class PhysicsInformedNN:
    def __init__(self, X_u, u, X_f, layers):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float().to(device)
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float().to(device)
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float().to(device)
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float().to(device)
        self.u = torch.tensor(u).float().to(device)
        self.nu = torch.nn.Parameter(torch.tensor([0.05], requires_grad=True).to(device))
        self.dnn = seeded(DNN(layers)).to(device)
        self.dnn.register_parameter("nu", self.nu)
        self.optimizer = torch.optim.LBFGS(
            self.dnn.parameters(),
            lr=1.0,
            max_iter=6,
            max_eval=8,
            history_size=10,
            tolerance_grad=1e-5,
            tolerance_change=1.0 * np.finfo(float).eps,
            line_search_fn="strong_wolfe",
        )
        self.adam = torch.optim.Adam(self.dnn.parameters(), lr=1e-2)

    def net_u(self, x, t):
        return self.dnn(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t, u_x = torch.autograd.grad(
            u, [t, x], grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True
        )
        u_xx = torch.autograd.grad(
            u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True, create_graph=True
        )[0]
        return u_t + u * u_x - self.nu * u_xx

    def loss_func(self):
        self.optimizer.zero_grad()
        u_pred = self.net_u(self.x_u, self.t_u)
        f_pred = self.net_f(self.x_f, self.t_f)
        loss = torch.mean((self.u - u_pred) ** 2) + torch.mean(f_pred**2)
        loss.backward()
        report(loss.item())
        return loss

    def train(self, epochs):
        self.dnn.train()
        for _ in range(epochs):
            self.adam.zero_grad()
            self.loss_func()
            self.adam.step()
        self.optimizer.step(self.loss_func)

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float().to(device)
        t = torch.tensor(X[:, 1:2], requires_grad=True).float().to(device)
        self.dnn.eval()
        return self.net_u(x, t).detach().cpu().numpy(), self.net_f(x, t).detach().cpu().numpy()


x0 = np.hstack([RNG.uniform(-1, 1, (20, 1)), np.zeros((20, 1))])
boundary = np.hstack([RNG.choice([-1.0, 1.0], (20, 1)), RNG.random((20, 1))])
X_u = np.vstack([x0, boundary])
u = np.vstack([-np.sin(np.pi * x0[:, 0:1]), np.zeros((20, 1))])
X_f = np.vstack([np.hstack([RNG.uniform(-1, 1, (60, 1)), RNG.random((60, 1))]), X_u])
model = PhysicsInformedNN(X_u, u, X_f, [2, 20, 20, 1])
model.train(5)
u_pred, f_pred = model.predict(X_f)
report(np.linalg.norm(u_pred))
report(np.linalg.norm(f_pred))
report(model.nu)
