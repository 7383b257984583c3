"""Facts about the paper's tables and matrix that its Table I has to be read with; each is computed here."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..datasets import fetch_communities_crime, fetch_compas
from ..estimators import FairFeatureEmbedding, FairKernelClassifier
from .context import error_and_sd, quietly, read_rows
from .paper import PUBLISHED
from .spec import CRIME_WITH_LEAK, ROWS_PER_COMPONENT, TABLES, Table


class Finding(NamedTuple):
    """A fact and the figures it rests on."""

    title: str
    text: str
    figures: dict[str, float]


def findings(shuffles: int = 50, tables: Sequence[str] = tuple(TABLES)) -> list[Finding]:
    """Compute what there is to say of some tables; no other table is read.

    Parameters
    ----------
    shuffles : int
        How many published shuffles to average over, whatever shuffles the trials were on.
    tables : sequence of str
        Names in ``TABLES``.

    Returns
    -------
    list of Finding
    """
    found = [printed_matrix(), crime_leak(shuffles)] if "crime" in tables else []
    found += [compas_label(), compas_duplicates(shuffles)] if "compas" in tables else []
    return [*found, constants(shuffles, tables)]


def printed_matrix() -> Finding:
    """Eq. 6 as printed on the Crime table: one negative eigenvalue, and a gap in the least eigenvector."""
    rows = read_rows(TABLES["crime"], 0, include_sensitive=False)
    exact = FairFeatureEmbedding(5, kernel="poly", degree=4, coef0=0.1, random_state=0)
    printed = clone(exact).set_params(objective="printed").fit(rows.X, sensitive_features=rows.s)
    exact.fit(rows.X, sensitive_features=rows.s)
    spread = {name: e.transform(rows.X).std(axis=0) for name, e in (("printed", printed), ("exact", exact))}
    gap = float(printed.mean_gap_[0] / spread["printed"][0])
    figures = {
        "negative eigenvalues": float((printed.eigenvalues_ < 0).sum()),
        "gap of the first printed feature / its deviation": gap,
        "deviation of printed features 2 to 5": float(spread["printed"][1:].mean()),
        "largest gap of five exact features": float(exact.mean_gap_.max()),
        "deviation of five exact features": float(spread["exact"].mean()),
    }
    text = (
        "The matrix printed as Eq. 6 replaces (Σf)² by Σf² in its diagonal blocks, so it is not the objective of "
        f"Eq. 3. On the first Crime shuffle it has {figures['negative eigenvalues']:.0f} negative eigenvalue; the "
        f"eigenvector that belongs to it, the paper's first fair feature, has a gap of {gap:.2f} standard deviations, "
        f"and the next four have a mean standard deviation of {spread['printed'][1:].mean():.2g}: the least "
        "informative directions there are. The objective itself is rank one; of its many minimisers we take those of "
        f"largest variance (mean standard deviation {spread['exact'].mean():.2g}, largest gap "
        f"{exact.mean_gap_.max():.0g})."
    )
    return Finding("The printed matrix is not the objective", text, figures)


def crime_leak(shuffles: int) -> Finding:
    """The Crime table's continuous crime rate among the inputs."""
    leak = fetch_communities_crime(drop_leak=False)
    equal = int(((leak.frame["ViolentCrimesPerPop"] >= 0.5) == (leak.target == 1)).sum())
    errors, fkr = {}, {}
    for name, table in (("with", CRIME_WITH_LEAK), ("without", TABLES["crime"])):
        errors[name] = np.mean([_ridge_error(table, shuffle) for shuffle in range(shuffles)])
        fkr[name] = np.mean([_fkr(table, shuffle) for shuffle in range(shuffles)], axis=0)
    figures = {
        "rows": float(len(leak.target)),
        "rows where label = (column 100 >= 0.5)": float(equal),
        "ridge error with column 100": float(errors["with"]),
        "ridge error without": float(errors["without"]),
    }
    text = (
        "Column 100 of the published Crime table is the continuous crime rate; the label equals (column 100 ≥ 0.5) in "
        f"{equal} of {len(leak.target)} rows. With it among the inputs a linear ridge has test error "
        f"{errors['with']:.4f}, without it {errors['without']:.4f}; FKR-F²E with the kernel and k under Table I and "
        f"ridge penalty 1 has error {fkr['with'][0]:.4f} at SD {fkr['with'][1]:.4f} with it, "
        f"{fkr['without'][0]:.4f} at {fkr['without'][1]:.4f} without. "
        "All our figures are without it unless the run says --keep-leak."
    )
    return Finding("Crime: the label leaks into the inputs", text, figures)


def _ridge_error(table: Table, shuffle: int) -> float:
    rows = read_rows(table, shuffle, include_sensitive=True)
    predicted = RidgeClassifier(alpha=1.0).fit(rows.X, rows.y).predict(rows.X_test)
    return float((predicted != rows.y_test).mean())


def _fkr(table: Table, shuffle: int) -> tuple[float, float]:
    rows = read_rows(table, shuffle, include_sensitive=True)
    k = max(1, len(rows.X) // ROWS_PER_COMPONENT[0])
    model = FairKernelClassifier(k, n_features=500, random_state=shuffle, **table.published_kernel.keywords())
    with quietly():
        decisions = model.fit(rows.X, rows.y, sensitive_features=rows.s).predict(rows.X_test)
    error, sd = error_and_sd(decisions.astype(bool), rows.y_test, rows.s_test)
    return float(error), float(sd)


def compas_label() -> Finding:
    """No input of the paper's COMPAS table predicts its label."""
    compas = fetch_compas(as_frame=False)
    X, y = compas.data, compas.target
    correlation = np.abs([np.corrcoef(column, y)[0, 1] for column in X.T if np.ptp(column) > 0])
    # Rows with equal inputs stay in one fold: half the table is repeated.
    same_inputs = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    auc = cross_val_score(model, X, y, groups=same_inputs, cv=GroupKFold(5), scoring="roc_auc").mean()
    figures = {"largest |correlation| with the label": float(correlation.max()), "ridge AUC, 5 folds": float(auc)}
    text = (
        f"In the paper's COMPAS table no input has |correlation| above {correlation.max():.3f} with the label, and a "
        f"ridge classifier has cross-validated AUC {auc:.3f} (rows with equal inputs kept in one fold). "
        "Methods cannot be ranked by their error on it."
    )
    return Finding("COMPAS: the label carries no signal", text, figures)


def compas_duplicates(shuffles: int) -> Finding:
    """Rows repeated between training and test."""
    compas = fetch_compas(as_frame=False)
    rows = np.column_stack([compas.data, compas.target])
    distinct = len(np.unique(rows, axis=0))
    number = np.unique(compas.data, axis=0, return_inverse=True)[1].reshape(-1)
    shared = np.mean([np.isin(number[test], number[train]).mean() for train, test in compas.splits[:shuffles]])
    figures = {
        "rows": float(len(rows)),
        "distinct rows": float(distinct),
        "share of test rows with equal training inputs": float(shared),
    }
    text = (
        f"Of {len(rows)} COMPAS rows {distinct} are distinct; {shared:.0%} of test rows have a training row with the "
        "same inputs. "
        "A flexible kernel can remember them."
    )
    return Finding("COMPAS: repeated rows", text, figures)


def constants(shuffles: int, tables: Sequence[str] = tuple(TABLES)) -> Finding:
    """Majority error beside the published errors."""
    figures, parts = {}, []
    for name in tables:
        table = TABLES[name]
        majority = np.mean([_majority_error(table, shuffle) for shuffle in range(shuffles)])
        published = PUBLISHED[name, "FKR-F2E"].error
        figures[f"{name}: majority error"] = float(majority)
        parts.append(f"{table.title} {published:.4f} against {majority:.4f}")
    text = (
        "The published errors of FKR-F²E beside those of predicting the majority class, on the same shuffles: "
        + "; ".join(parts)
        + ". A constant has SD 0."
    )
    if "compas" in tables:
        below = figures["compas: majority error"] - PUBLISHED["compas", "FKRR"].error
        text += (
            f" The published COMPAS error of FKRR (.2190) is {below:.4f} below the majority error, on a label without "
            "signal; our FKRR row shows what we measure."
        )
    return Finding("Table I stands next to the constant", text, figures)


def _majority_error(table: Table, shuffle: int) -> float:
    rows = read_rows(table, shuffle, include_sensitive=True)
    return float((rows.y_test != (rows.y.mean() >= 0.5)).mean())
