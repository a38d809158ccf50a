"""Results of the literature that the encoded statements rest on, beside statements of the papers themselves."""

from __future__ import annotations

from dpverify.ledger.entries import NamedResult

RESULTS = (
    NamedResult(
        id="area-of-convex-bodies",
        title="of two convex bodies, one in the other, the inner one has the smaller surface",
        source="textbooks on convex geometry",
    ),
    NamedResult(
        id="basic-composition",
        title="the epsilons and the deltas of mechanisms that are run one after another add up",
        source="Dwork, Kenthapadi, McSherry, Mironov, Naor: Our Data, Ourselves, Theorem 1",
    ),
    NamedResult(
        id="bernoulli",
        title="Bernoulli's inequality: (1 + x)^n is at least 1 + n x for x >= -1 and whole n >= 1",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="cauchy-schwarz",
        title="the Cauchy-Schwarz inequality: the square of a sum of d numbers is at most d times the sum of their "
        "squares",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="chain-rule-of-information",
        title="I(A, B; X) = I(A; X) + I(B; X | A)",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="change-of-variables",
        title="a density of the image under a smooth bijection is the density at its preimage, times the Jacobian",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="chernoff-for-gamma",
        title="a Gamma variable of shape p is above z p with probability at most (z exp(1 - z))^p, for z >= 1",
        source="textbooks on probability",
    ),
    NamedResult(
        id="classical-gaussian-mechanism",
        title="for epsilon < 1, noise of standard deviation Delta sqrt(2 ln(1.25/delta)) / epsilon gives "
        "(epsilon, delta)-DP; so, by continuity of the profile, for epsilon = 1",
        source="Dwork and Roth: The Algorithmic Foundations of Differential Privacy, Theorem A.1",
    ),
    NamedResult(
        id="continuum-fano",
        title="an estimator is within t of X with probability P only if I >= P log(1/q) - log 2, where q is the "
        "largest probability of X being within t of a point",
        source="Duchi and Wainwright: Distance-based and continuum Fano inequalities",
    ),
    NamedResult(
        id="convex-slopes",
        title="of a convex function on a line, the slope of a chord does not decrease as its ends move up",
        source="textbooks on convex analysis",
    ),
    NamedResult(
        id="data-processing",
        title="what is made from Y without X says no more about X than Y does: I(f(Y); X) <= I(Y; X)",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="differentiation-under-the-integral",
        title="the derivative of an integral is the integral of the derivative, where both converge and the latter "
        "does so uniformly",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="divergence-chain-rule",
        title="the divergence of two laws of a sequence is the sum of the mean divergences of each part given those"
        " before",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="divergence-is-convex",
        title="KL(P || Q) is convex in Q: the divergence from a mixture is at most the mean of those from its parts",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="duchi-wainwright",
        title="P(|X - Y| >= t) >= (H(X | Y) - log N_max - 1) / log((|C| - N_min) / N_max) for X and Y in a finite "
        "set C, of which at least N_min and at most N_max points are within t of one",
        source="Duchi and Wainwright: Distance-based and continuum Fano inequalities, Proposition 1",
    ),
    NamedResult(
        id="exchange-of-a-record",
        title="a random sample that holds a record becomes one that does not when the record is exchanged for a "
        "random one outside, so the two kinds of samples are neighbors in pairs",
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith: What Can We Learn Privately?",
    ),
    NamedResult(
        id="exponential-above-its-tangent",
        title="exp(x) is at least 1 + x",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="exponential-mechanism",
        title="the exponential mechanism on K scores with sensitivity Delta chooses one within "
        "(2 Delta / epsilon)(ln K + t) of the best with probability 1 - exp(-t)",
        source="McSherry and Talwar: Mechanism Design via Differential Privacy",
    ),
    NamedResult(
        id="exponential-mechanism-tail",
        title="under masses in proportion to exp(-f / T) on k points, f is above min f + T (ln k + t) with probability "
        "at most exp(-t)",
        source="McSherry, Talwar: Mechanism Design via Differential Privacy",
    ),
    NamedResult(
        id="exponential-series",
        title="exp(t) is the sum of t^k / k! over k >= 0",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="fingerprinting",
        title="for epsilon = O(1) and delta = o(1/n), no private algorithm answers most of p marginals of n sign "
        "vectors up to a small multiple of min(1, sqrt(p) / (epsilon n))",
        source="Bun, Ullman, Vadhan: Fingerprinting Codes and the Price of Approximate Differential Privacy",
    ),
    NamedResult(
        id="fingerprinting-identity",
        title="E A(S) sum_i (X_i - theta) = g'(theta) (1 - theta^2) for n independent X_i in {-1, 1} with mean theta "
        "and g(theta) = E A(S)",
        source="Dwork, Smith, Steinke, Ullman, Vadhan: Robust Traceability from Trace Amounts, Lemma 5",
    ),
    NamedResult(
        id="fubini",
        title="the integral of a product of functions, one of each variable, is the product of their integrals",
        source="Fubini 1907, Tonelli 1909",
    ),
    NamedResult(
        id="gaussian-concentration",
        title="a G-Lipschitz function of a random point whose negative log-density is 1/eta-strongly convex exceeds "
        "its mean by t with probability at most exp(-t^2 / (2 eta G^2))",
        source="Ledoux: Concentration of Measure and Logarithmic Sobolev Inequalities, (1.21)",
    ),
    NamedResult(
        id="gaussian-isoperimetry",
        title="a law whose negative log-density is mu-strongly convex expands its events at least as fast as N(0, "
        "1/mu) expands half lines",
        source="Ledoux: Concentration of Measure and Logarithmic Sobolev Inequalities, Theorem 1.1",
    ),
    NamedResult(
        id="gaussian-norm-tail",
        title="the squared length of Gaussian noise in d coordinates exceeds sigma^2 (d + 2 sqrt(d t) + 2 t) with "
        "probability at most exp(-t)",
        source="Laurent and Massart: Adaptive Estimation of a Quadratic Functional by Model Selection, Lemma 1",
    ),
    NamedResult(
        id="gaussian-rotation",
        title="a Gaussian law with equal variances has, in every orthonormal basis, independent Gaussian coordinates "
        "of the same variance",
        source="textbooks on probability",
    ),
    NamedResult(
        id="gaussian-second-moment",
        title="E||Z||^2 = d sigma^2 for Gaussian noise of standard deviation sigma in each of d coordinates",
        source="textbooks on probability",
    ),
    NamedResult(
        id="gibbs-on-a-net",
        title="under masses in proportion to exp(-f / T) on N points, E f is at most min f + T ln N",
        source="McSherry, Talwar: Mechanism Design via Differential Privacy; by the entropy of the masses",
    ),
    NamedResult(
        id="gibbs-risk",
        title="under a density in proportion to exp(-f / T) on a convex set of dimension p, E f is at most min f + p "
        "T for convex f",
        source="de Klerk, Laurent: Comparison of Lasserre's Measure-Based Bounds for Polynomial Optimization, Theorem "
        "5",
    ),
    NamedResult(
        id="gilbert-varshamov",
        title="there are 2^(p/8) sign vectors of length p of which any two differ in at least p/8 places",
        source="the Varshamov-Gilbert bound; Tsybakov: Introduction to Nonparametric Estimation, Lemma 2.9",
    ),
    NamedResult(
        id="group-privacy",
        title="an event's probabilities under an epsilon-private algorithm for data sets that differ in k records are "
        "within a factor exp(k epsilon)",
        source="Dwork, Roth: The Algorithmic Foundations of Differential Privacy, Theorem 2.2",
    ),
    NamedResult(
        id="group-privacy-of-zcdp",
        title="rho-zCDP gives s^2 rho-zCDP for data sets that differ in s records",
        source="Bun and Steinke: Concentrated Differential Privacy, Proposition 27",
    ),
    NamedResult(
        id="growth-at-a-minimizer",
        title="on a convex set, a function that is m-strongly convex is at least its minimum plus m/2 times the "
        "squared distance to the minimizer",
        source="textbooks on convex analysis",
    ),
    NamedResult(
        id="harmonic-sum",
        title="1 + 1/2 + ... + 1/m is at most 1 + ln m",
        source="textbooks on analysis",
    ),
    NamedResult(
        id="herbst",
        title="exp(lambda (f - E f)) of a G-Lipschitz f of a random point whose negative log-density is "
        "1/eta-strongly convex has a mean of at most exp(lambda^2 eta G^2 / 2)",
        source="Ledoux: Concentration of Measure and Logarithmic Sobolev Inequalities, Section 2",
    ),
    NamedResult(
        id="hoeffding",
        title="a mean of m values from [0, 1], drawn with or without replacement, is off by t to one side with "
        "probability at most exp(-2 m t^2)",
        source="Hoeffding 1963",
    ),
    NamedResult(
        id="independent-means-multiply",
        title="the mean of a product of independent numbers is the product of their means",
        source="textbooks on probability",
    ),
    NamedResult(
        id="independent-of-a-fresh-record",
        title="the mean over a fresh record, drawn independently of the output, of its loss is the population loss "
        "of the output",
        source="textbooks on probability",
    ),
    NamedResult(
        id="independent-records-are-exchangeable",
        title="independent records of the same law may be exchanged without changing any mean",
        source="textbooks on probability",
    ),
    NamedResult(
        id="integral-is-monotone",
        title="an integral is monotone, and a positive measure's mass of a union is at most the sum of the masses",
        source="textbooks on measure theory",
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
        id="johnson-lindenstrauss",
        title="the projection of a vector u to a uniformly random subspace of m of n dimensions is at least "
        "(1 - t) sqrt(m/n) |u| long, except with probability exp(-C m t^2)",
        source="Vershynin: High-Dimensional Probability, Lemma 5.3.2",
    ),
    NamedResult(
        id="largest-entropy",
        title="the entropy of a random value with m possible values is at most log m, and that of a certain one is 0",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="markov",
        title="Markov's inequality: a times the probability that a nonnegative number is at least a is at most its "
        "mean",
        source="textbooks on probability",
    ),
    NamedResult(
        id="mills-ratio",
        title="the Gaussian tail beyond y > 0 is at most exp(-y^2/2) / (y sqrt(2 pi))",
        source="Gordon 1941",
    ),
    NamedResult(
        id="minimum-of-a-mean",
        title="the mean of the smallest values is at most the smallest value of the mean",
        source="textbooks on probability",
    ),
    NamedResult(
        id="morris-peres",
        title="a lazy reversible chain is within a relative distance e of its law pi after 1 + the integral of"
        " 4 / (x Phi(x)^2) from 4 min pi to 4/e steps",
        source="Morris, Peres: Evolving Sets, Mixing and Heat Kernel Bounds, Theorem 1",
    ),
    NamedResult(
        id="mean-estimation",
        title="no estimator from s samples has a mean error below C L / sqrt(s) for a mean that may be as long as "
        "L / sqrt(s), of vectors no longer than L",
        source="Steinke and Ullman: Between Pure and Approximate Differential Privacy; textbooks on statistics",
    ),
    NamedResult(
        id="neyman-pearson",
        title="the Neyman-Pearson lemma: no event does better than that of a likelihood ratio above a threshold",
        source="Neyman and Pearson 1933",
    ),
    NamedResult(
        id="norm-of-a-gaussian",
        title="E||Z|| = sqrt(2) sigma Gamma((d + 1)/2) / Gamma(d/2) for Gaussian noise in d coordinates",
        source="textbooks on probability",
    ),
    NamedResult(
        id="packing-number",
        title="a ball of radius r >= a holds at least (r/a)^d and at most (3r/a)^d points that are a apart",
        source="Vershynin: High-Dimensional Probability, Section 4.2",
    ),
    NamedResult(
        id="pinsker",
        title="Pinsker's inequality: a total variation is at most the root of half the divergence",
        source="textbooks on information theory",
    ),
    NamedResult(
        id="post-processing-of-divergences",
        title="no Renyi or Kullback-Leibler divergence grows when the same random map is applied to both laws",
        source="van Erven and Harremoes: Renyi Divergence and Kullback-Leibler Divergence, Theorem 1",
    ),
    NamedResult(
        id="post-sampling",
        title="a mechanism within tau in total variation of an (epsilon, delta)-private one is (epsilon, delta + (1"
        " + e^epsilon) tau)-private",
        source="from the definitions",
    ),
    NamedResult(
        id="projection-inequality",
        title="of a convex set, p is the point nearest to x only if <x - p, z - p> <= 0 for every point z of the set",
        source="textbooks on convex analysis",
    ),
    NamedResult(
        id="pure-composition",
        title="adaptively composed, mechanisms that are epsilon_1- and epsilon_2-private are (epsilon_1 + "
        "epsilon_2)-private, and the deltas add as well",
        source="Dwork, Roth: The Algorithmic Foundations of Differential Privacy, Theorem B.1",
    ),
    NamedResult(
        id="randomized-response",
        title="composed adaptively, no epsilon-private mechanisms have a larger profile than randomized response",
        source="Kairouz, Oh, Viswanath: The Composition Theorem for Differential Privacy",
    ),
    NamedResult(
        id="range-times-total-variation",
        title="the means of a number under two laws differ by at most its range times their total variation",
        source="textbooks on probability",
    ),
    NamedResult(
        id="reflection",
        title="reflected at 0, the pair N(0, 1), N(s, 1) becomes the pair N(0, 1), N(-s, 1), and no profile changes",
        source="by symmetry",
    ),
    NamedResult(
        id="rejection-sampling",
        title="an accepted point has the density of the proposal times the probability of acceptance, divided by the"
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
        id="renyi-triangle",
        title="D_a(P||Q) <= k a/(k a - 1) D_b(P||R) + D_{k a}(R||Q) for b = (k a - 1)/(k - 1), k > 1 and a > 1",
        source="Bun and Steinke: Concentrated Differential Privacy, on group privacy",
    ),
    NamedResult(
        id="sampling-with-delta",
        title="run on a random fraction gamma of the records, an (epsilon, delta)-private algorithm is "
        "(ln(1 + gamma (exp(epsilon) - 1)), gamma delta)-private",
        source="Balle, Barthe, Gaboardi: Privacy Amplification by Subsampling, Theorem 9",
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
        id="shamir-zhang-convex",
        title="with steps c / sqrt(t) and E||G_t||^2 <= G^2, E[F(theta_T)] - F* <= (D^2 / c + c G^2) (2 + ln T)"
        " / sqrt(T) for convex F on a set of diameter D and T > 1",
        source="Shamir, Zhang: Stochastic Gradient Descent for Non-Smooth Optimization, Theorem 2",
    ),
    NamedResult(
        id="shamir-zhang-strongly-convex",
        title="with steps 1 / (lambda t) and E||G_t||^2 <= G^2, E[F(theta_T)] - F* <= 17 G^2 (1 + ln T) / (lambda T)"
        " for lambda-strongly convex F and T > 1",
        source="Shamir, Zhang: Stochastic Gradient Descent for Non-Smooth Optimization, Theorem 1",
    ),
    NamedResult(
        id="shifted-divergence-is-attained",
        title="in R^d, some law within a W-infinity distance of z has the smallest Renyi divergence; elsewhere one "
        "comes arbitrarily close to it",
        source="weak compactness and lower semicontinuity: van Erven and Harremoes, Theorem 19",
    ),
    NamedResult(
        id="shifts-in-gdp-form",
        title="noisy contractions whose maps differ at one step are as private, t steps later, as one Gaussian step "
        "with the noise of all of them",
        source="Bok, Su, Altschuler: Shifted Interpolation for Differential Privacy",
    ),
    NamedResult(
        id="smooth-convex-interpolation",
        title="of a convex, beta-smooth f on all of R^d, f(x) >= f(y) + <grad f(y), x - y>"
        " + ||grad f(x) - grad f(y)||^2 / (2 beta) for all x and y",
        source="Nesterov: Introductory Lectures on Convex Optimization, Theorem 2.1.5; Taylor, Hendrickx, Glineur: "
        "Smooth Strongly Convex Interpolation and Exact Worst-Case Performance of First-Order Methods",
    ),
    NamedResult(
        id="stochastic-by-empirical",
        title="a solver with empirical risk alpha-hat D wherever it starts within D of the minimizer gives, with "
        "log(n) calls, population risk O(log(n) B alpha-hat + log(n)^(3/2) B L / sqrt(n))",
        source="Bassily, Guzman, Menart: Differentially Private Algorithms for the Stochastic Saddle Point Problem "
        "with Optimal Rates for the Strong Gap, Theorem 1, as Menart and Nikolov state it (Theorem 9)",
    ),
    NamedResult(
        id="strong-composition-with-delta",
        title="T adaptive (epsilon, delta)-private algorithms are (epsilon', T delta + delta')-private together, with "
        "the epsilon' of strong composition",
        source="Dwork, Rothblum, Vadhan: Boosting and Differential Privacy",
    ),
    NamedResult(
        id="subgradient-inequality",
        title="F(u) is at least F(w) + <g, u - w> for a convex F and a subgradient g of F in w",
        source="textbooks on convex analysis",
    ),
    NamedResult(
        id="subsampling",
        title="an epsilon'-DP algorithm on b of n records, drawn without replacement, is "
        "ln(1 + (b/n)(exp(epsilon') - 1))-DP",
        source="Balle, Barthe, Gaboardi: Privacy Amplification by Subsampling",
    ),
    NamedResult(
        id="talagrand",
        title="the squared W_2 distance to a law whose negative log-density is mu-strongly convex is at most 2/mu "
        "times the divergence from it",
        source="Otto and Villani: Generalization of an Inequality by Talagrand, Theorem 1",
    ),
    NamedResult(
        id="tcdp-by-subsampling",
        title="for rho and m/n of at most 1/10, log(n/m) >= 3 rho (2 + log_2(1/rho)) and log(n/m) >= 6 rho, a rho-zCDP "
        "mechanism on m of n records, drawn without replacement, is (13 (m/n)^2 rho, log(n/m)/(4 rho))-tCDP",
        source="Bun, Dwork, Rothblum, Steinke: Composable and Versatile Privacy via Truncated CDP, Theorem 11",
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
        id="union-bound",
        title="the probability that one of several events happens is at most the sum of their probabilities",
        source="textbooks on probability",
    ),
    NamedResult(
        id="volume-of-a-net",
        title="a set in a ball of radius R of dimension p has a net of radius r with at most (1 + 2 R / r)^p points",
        source="by volume; Vershynin: High-Dimensional Probability, Corollary 4.2.13",
    ),
    NamedResult(
        id="wald",
        title="Wald's identity: the mean cost of repeated independent rounds is the mean cost of a round times "
        "their mean number",
        source="Wald 1944",
    ),
    NamedResult(
        id="wasserstein-of-lipschitz",
        title="the means of a G-Lipschitz function under two laws differ by at most G times their W_2 distance",
        source="textbooks on probability",
    ),
    NamedResult(
        id="yao",
        title="Yao's principle: on average over a prior, some deterministic algorithm is as good as a randomized "
        "one",
        source="Yao 1977",
    ),
)
