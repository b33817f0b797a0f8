package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link ShaPartialHashTask}. */
final class PartialHashTask extends OperationTask<ShaPartialHashTask>
        implements ShaPartialHashTask {
    private final ShaContext sha;
    private final PartialHash session;
    private final Hash hash;
    private boolean isFinal;
    private boolean hasResult;

    PartialHashTask(ShaContext sha) {
        super(sha);
        this.sha = sha;
        this.session = new PartialHash(sha, ShaAlgorithm.SHA256, new ShaDigests().createAll());
        this.hash = new Hash(this::hashEnded, sha);
    }

    @Override
    public ShaPartialHashTask setAlgorithm(ShaAlgorithm algorithm) {
        requireUser();
        session.setAlgorithm(algorithm);
        return this;
    }

    @Override
    public ShaPartialHashTask setDestination(Buf destination) {
        requireUser();
        session.requireNotInProgress("destination");
        return super.setDestination(destination);
    }

    @Override
    public ShaPartialHashTask setFinal(boolean isFinal) {
        requireUser();
        this.isFinal = isFinal;
        return this;
    }

    @Override
    public void reset() {
        requireUser();
        clear();
    }

    @Override
    public ShaAlgorithm algorithm() {
        return session.algorithm();
    }

    @Override
    public boolean isFinal() {
        return isFinal;
    }

    @Override
    public boolean hasResult() {
        return hasResult && !isInFlight();
    }

    private boolean hashEnded(Status ended) {
        session.ended(ended, isFinal);
        hasResult = isFinal && ended == Status.SUCCESS;
        complete(ended);
        return sha.mayProcessMore();
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        Refusal refusal =
                hash.beginPart(source(), destination(), session, sha, isFinal, sha.scratch());
        if (refusal == null) {
            hasResult = false;
            sha.add(hash);
        }
        return refusal;
    }

    @Override
    protected void onCompleted() {
        sha.completed(this);
    }

    @Override
    protected void onFree() {
        super.onFree();
        clear();
    }

    private void clear() {
        session.forget();
        isFinal = false;
        hasResult = false;
    }
}
