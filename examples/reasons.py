"""Why a model's mean scores differ: the columns that carry the gap, and the rows that look like one group."""

from sklearn.preprocessing import StandardScaler

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, explain_gap
from fairkernel.datasets import load_mortgage


def main() -> None:
    loans = load_mortgage(binary=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(loans.data)
    y, s = loans.target, loans.sensitive_features

    model = FairKernelClassifier(kernel="auto", disparity_kept=1.0, random_state=0).fit(X, y, sensitive_features=s)
    some = slice(0, None, 4)  # permuting thirty columns asks for many predictions
    explanation = explain_gap(model, X[some], sensitive_features=s[some], n_repeats=3, random_state=0)
    print(explanation, end="\n\n")
    explanation.plot().savefig("reasons.png")

    # d(x) is the function whose mean tells the groups apart best; a fair score is orthogonal to it.
    embedding = FairFeatureEmbedding(n_components=8, random_state=0).fit(X, sensitive_features=s)
    witness = embedding.witness(X)
    for group in embedding.groups_:
        print(f"mean witness of {group:9} {witness[s == group].mean():+.4f}")
    print(f"largest gap of a fair feature: {embedding.mean_gap_.max():.1e}")
    print(embedding.span_stability(X, sensitive_features=s, n_resamples=5, random_state=0))


if __name__ == "__main__":
    main()
