package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link ShaHashTask}. */
final class HashTask extends OperationTask<ShaHashTask> implements ShaHashTask {
    private final ShaContext sha;
    private final ShaDigests digests = new ShaDigests().createAll();
    private final Hash hash;
    private ShaAlgorithm algorithm = ShaAlgorithm.SHA256;

    HashTask(ShaContext sha) {
        super(sha);
        this.sha = sha;
        this.hash = new Hash(this::hashEnded, sha);
    }

    @Override
    public ShaHashTask setAlgorithm(ShaAlgorithm algorithm) {
        requireUser();
        this.algorithm = Arguments.notNull(algorithm, "algorithm");
        return this;
    }

    @Override
    public ShaAlgorithm algorithm() {
        return algorithm;
    }

    private boolean hashEnded(Status ended) {
        complete(ended);
        return sha.mayProcessMore();
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        Refusal refusal = hash.begin(source(), destination(), algorithm, digests, sha.scratch());
        if (refusal == null) {
            sha.add(hash);
        }
        return refusal;
    }

    @Override
    protected void onCompleted() {
        sha.completed(this);
    }
}
