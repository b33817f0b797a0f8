package io.softdpu.compute;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link ShaHashJob}. */
final class HashJob extends OperationJob<ShaHashJob> implements ShaHashJob {
    private final ShaDigests digests = new ShaDigests();
    private final Hash hash;
    private ShaAlgorithm algorithm;

    HashJob(ShaContext sha, ShaAlgorithm algorithm, Buf source, Buf destination) {
        super(sha, Sha.HASH_JOB, source, destination);
        this.algorithm = algorithm;
        this.hash = new Hash(this::completed, sha);
        digests.digestOf(algorithm);
    }

    @Override
    public ShaHashJob setAlgorithm(ShaAlgorithm algorithm) {
        requireUser();
        digests.digestOf(Arguments.notNull(algorithm, "algorithm"));
        this.algorithm = algorithm;
        return this;
    }

    @Override
    public ShaAlgorithm algorithm() {
        return algorithm;
    }

    @Override
    protected String operands() {
        return ", algorithm=" + algorithm + super.operands();
    }

    @Override
    @Nullable Refusal begin(OperationJobQueue submittedTo) {
        ShaScratch scratch = ((ShaJobQueue) submittedTo).scratch();
        return hash.begin(source(), destination(), algorithm, digests, scratch);
    }

    @Override
    BufOperation operation() {
        return hash;
    }
}
