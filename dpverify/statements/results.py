"""Results of the literature that the encoded statements rest on, beside statements of the papers themselves."""

from __future__ import annotations

from dpverify.evidence import NamedResult

RESULTS = (
    NamedResult(
        id="data-processing",
        title="no Renyi or Kullback-Leibler divergence grows when the same random map is applied to both laws",
        source="van Erven and Harremoes: Renyi Divergence and Kullback-Leibler Divergence, Theorem 1",
    ),
    NamedResult(
        id="exchange-of-a-record",
        title="a random sample that holds a record becomes one that does not if the record is exchanged for a random "
        "one outside, so that the two kinds of samples are neighbors in pairs",
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith: What Can We Learn Privately?",
    ),
    NamedResult(
        id="exponential-series",
        title="exp(t) is the sum of t^k / k! over k >= 0",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="gaussian-concentration",
        title="a G-Lipschitz function of a random point whose negative log-density is 1/eta-strongly convex exceeds its "
        "mean by t with probability at most exp(-t^2 / (2 eta G^2))",
        source="Ledoux: Concentration of Measure and Logarithmic Sobolev Inequalities, (1.21)",
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
        id="herbst",
        title="exp(lambda (f - E f)) of a G-Lipschitz f of a random point whose negative log-density is 1/eta-strongly convex "
        "has a mean of at most exp(lambda^2 eta G^2 / 2)",
        source="Ledoux: Concentration of Measure and Logarithmic Sobolev Inequalities, Section 2",
    ),
    NamedResult(
        id="independent-means-multiply",
        title="the mean of a product of independent numbers is the product of their means",
        source="textbooks on probability",
    ),
    NamedResult(
        id="integration-by-parts",
        title="the integral of u v' is u v between the ends, less the integral of u' v",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="jensen",
        title="Jensen's inequality: a convex function of a mean is at most the mean of the function",
        source="Jensen 1906",
    ),
    NamedResult(
        id="markov",
        title="Markov's inequality: a times the probability that a nonnegative number is at least a is at most its "
        "mean",
        source="textbooks on probability",
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
        id="rejection-sampling",
        title="what is accepted has the density of the proposal times the probability of acceptance, divided by the"
        " mean of that probability",
        source="von Neumann 1951",
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
        id="scheffe",
        title="the total variation of two laws is half the integral of their densities' distance",
        source="textbooks on probability",
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
        id="trade-off-functions-order-pairs",
        title="if the trade-off function of (P, Q) is nowhere below that of (X, Y), some random map makes P of X and Q "
        "of Y",
        source="Dong, Roth, Su: Gaussian Differential Privacy, Theorem 2.10; Blackwell 1951",
    ),
    NamedResult(
        id="triangle-inequality",
        title="||u + v|| is at most ||u|| + ||v||",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="wald",
        title="Wald's identity: what repeated independent rounds cost on average is the mean cost of a round times "
        "their mean number",
        source="Wald 1944",
    ),
)
