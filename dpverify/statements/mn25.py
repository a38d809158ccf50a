"""mn25: Menart and Nikolov, On the Gradient Complexity of Private Optimization with Private Oracles."""

from __future__ import annotations

from dpverify.statements.errata import of_paper
from dpverify.statements.mn25_audits import PLANS
from dpverify.statements.mn25_hardness_audits import PLANS as HARDNESS_PLANS
from dpverify.statements.mn25_reductions_audits import PLANS as REDUCTION_PLANS
from dpverify.statements.paper import Paper, own_catalog

PAPER = Paper(
    key="mn25",
    title="On the Gradient Complexity of Private Optimization with Private Oracles",
    authors="Menart, Nikolov",
    catalog=own_catalog("mn25"),
    errata=of_paper("mn25"),
    algorithms={
        "mn25.alg1": "dpverify.algorithms.private_oracles:PrivateOracleMethod",
        "mn25.alg3": "dpverify.algorithms.dp_sgd:DPSGD",
        "mn25.alg4": "dpverify.algorithms.phased:PhasedSGD",
        "mn25.alg5": "dpverify.algorithms.phased:PhasedERM",
        "mn25.hard-instance": "dpverify.algorithms.hard_instance:HardInstance",
        "mn25.limited-oracle": "dpverify.algorithms.limited_oracle:LimitedOracleSGD",
        "mn25.sco-to-erm": "dpverify.algorithms.population_to_empirical:PopulationToEmpirical",
        "mn25.erm-to-sco": "dpverify.algorithms.empirical_to_population:EmpiricalToPopulation",
        "mn25.fingerprint": "dpverify.algorithms.fingerprinting:Fingerprinting",
    },
    plans=(*PLANS, *HARDNESS_PLANS, *REDUCTION_PLANS),
)
