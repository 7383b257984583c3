"""Decisions on loans: the whole trade-off on training rows, one bound, and an honest look at rows kept apart.

Text columns become 0/1 columns in an ordinary ColumnTransformer; everything is fitted on the training rows alone.
"""

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairkernel import FairKernelClassifier, frontier
from fairkernel.datasets import load_mortgage
from fairkernel.metrics import fairness_report

BOUND = 0.05


def main() -> None:
    loans = load_mortgage(binary=True)
    # The table stores what a form would ask in words as 0/1 columns: put two of them into words again.
    X = loans.data.assign(
        county=np.where(loans.data["suffolk"] == 1, "Suffolk", "elsewhere"),
        employed=np.where(loans.data["self"] == 1, "self-employed", "by others"),
    ).drop(columns=["suffolk", "self"])
    X, X_new, y, y_new, s, s_new = train_test_split(
        X, loans.target, loans.sensitive_features, test_size=0.25, stratify=loans.target, random_state=0
    )
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["county", "employed"]),
        remainder=StandardScaler(),
    )
    found = frontier(
        make_pipeline(prepare, FairKernelClassifier(kernel="auto", random_state=0)), X, y, sensitive_features=s
    )
    print(found, end="\n\n")
    print("kernel:", found.models[0].chosen_, end="\n\n")
    found.plot().savefig("loans.png")

    model = found.best(max_disparity=BOUND)  # a pipeline, fitted
    report = fairness_report(y_new, model.predict(X_new), sensitive_features=s_new)
    disparity, error, floor = report["statistical_disparity"], report["error"], report["noise_floor"]
    print(f"chosen for an out-of-fold disparity of at most {BOUND}; on the {len(y_new)} applications kept apart:")
    print(f"  disparity  {disparity['estimate']:.3f} [{disparity['low']:.3f}, {disparity['high']:.3f}]", end="")
    print(f", by chance alone {floor['expected']:.3f}")
    print(f"  error      {error['estimate']:.3f} [{error['low']:.3f}, {error['high']:.3f}]", end="")
    print(f", of approving everyone {report['constant']['error']:.3f}")
    print(f"  approved   {report['positive_rate']['estimate']:.3f}")
    print(*report["notes"], sep="\n")


if __name__ == "__main__":
    main()
