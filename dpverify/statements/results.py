"""Results of the literature that the encoded statements rest on, beside statements of the papers themselves."""

from __future__ import annotations

from dpverify.evidence import NamedResult

RESULTS = (
    NamedResult(
        id="exchange-of-a-record",
        title="a random sample that holds a record becomes one that does not if the record is exchanged for a random "
        "one outside, so that the two kinds of samples are neighbors in pairs",
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith: What Can We Learn Privately?",
    ),
    NamedResult(
        id="fubini",
        title="the integral of a product of functions, one of each variable, is the product of their integrals",
        source="Fubini 1907, Tonelli 1909",
    ),
    NamedResult(
        id="gaussian-rotation",
        title="a Gaussian law with equal variances has independent such coordinates in every orthonormal basis",
        source="textbooks on probability",
    ),
    NamedResult(
        id="gaussian-second-moment",
        title="E||Z||^2 = d sigma^2 for Gaussian noise of standard deviation sigma in each of d coordinates",
        source="textbooks on probability",
    ),
    NamedResult(
        id="harmonic-sum",
        title="1 + 1/2 + ... + 1/m is at most 1 + ln m",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="jensen",
        title="Jensen's inequality: a convex function of a mean is at most the mean of the function",
        source="Jensen 1906",
    ),
    NamedResult(
        id="neyman-pearson",
        title="the Neyman-Pearson lemma: no event does better than where the likelihood ratio is above a threshold",
        source="Neyman and Pearson 1933",
    ),
    NamedResult(
        id="norm-of-a-gaussian",
        title="E||Z|| = sqrt(2) sigma Gamma((d + 1)/2) / Gamma(d/2) for Gaussian noise in d coordinates",
        source="textbooks on probability",
    ),
    NamedResult(
        id="pinsker",
        title="Pinsker's inequality: a total variation is at most the root of half the divergence",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="projection-inequality",
        title="of a convex set, p is the point nearest to x only if <x - p, z - p> <= 0 for every point z of the set",
        source="textbooks on convex analysis",
    ),
    NamedResult(
        id="randomized-response",
        title="composed adaptively, no epsilon-private mechanisms have a larger profile than randomized response",
        source="Kairouz, Oh, Viswanath: The Composition Theorem for Differential Privacy",
    ),
    NamedResult(
        id="reflection",
        title="reflected at 0, the pair N(0, 1), N(s, 1) becomes the pair N(0, 1), N(-s, 1), and no profile changes",
        source="by symmetry",
    ),
    NamedResult(
        id="renyi-at-infinity",
        title="the Renyi divergence of order infinity is the logarithm of the largest ratio of an event's two masses",
        source="van Erven and Harremoes: Renyi Divergence and Kullback-Leibler Divergence, Theorem 6",
    ),
    NamedResult(
        id="renyi-quasi-convex",
        title="the Renyi divergence of two mixtures with the same weights is at most the largest of their parts",
        source="van Erven and Harremoes: Renyi Divergence and Kullback-Leibler Divergence, Theorem 13",
    ),
    NamedResult(
        id="second-moment-of-a-sum",
        title="E||u + v||^2 = E||u||^2 + 2 E<u, v> + E||v||^2, and E<u, v> = 0 for v independent of u with mean 0",
        source="linearity of the expectation",
    ),
    NamedResult(
        id="smooth-convex-interpolation",
        title="of a convex, beta-smooth f on all of R^d, f(x) >= f(y) + <grad f(y), x - y>"
        " + ||grad f(x) - grad f(y)||^2 / (2 beta) for all x and y",
        source="Nesterov: Introductory Lectures on Convex Optimization, Theorem 2.1.5; Taylor, Hendrickx, Glineur: "
        "Smooth Strongly Convex Interpolation and Exact Worst-Case Performance of First-Order Methods",
    ),
    NamedResult(
        id="shifted-divergence-is-attained",
        title="in R^d, some law within a W-infinity distance of z has the smallest Renyi divergence; elsewhere one "
        "comes as close to it as one likes",
        source="weak compactness and lower semicontinuity: van Erven and Harremoes, Theorem 19",
    ),
    NamedResult(
        id="shifts-in-gdp-form",
        title="noisy contractions whose maps differ at one step are as private, t steps later, as one Gaussian step "
        "with the noise of all of them",
        source="Bok, Su, Altschuler: Shifted Interpolation for Differential Privacy",
    ),
    NamedResult(
        id="subgradient-inequality",
        title="F(u) is at least F(w) + <g, u - w> for a convex F and a subgradient g of F in w",
        source="textbooks on convex analysis",
    ),
    NamedResult(
        id="triangle-inequality",
        title="||u + v|| is at most ||u|| + ||v||",
        source="textbooks on analysis",
    ),
)
