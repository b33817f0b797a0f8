package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link ShaPartialHashJob}. */
final class PartialHashJob extends OperationJob<ShaPartialHashJob> implements ShaPartialHashJob {
    private final PartialHash session;
    private final Hash hash;
    private boolean isFinal;

    PartialHashJob(ShaContext sha, PartialHash session, Buf source, Buf destination) {
        super(sha, Sha.PARTIAL_HASH_JOB, source, destination);
        this.session = session;
        this.hash = new Hash(this::hashEnded, sha);
    }

    @Override
    public ShaPartialHashJob setFinal(boolean isFinal) {
        requireUser();
        this.isFinal = isFinal;
        return this;
    }

    @Override
    public ShaSession session() {
        return session;
    }

    @Override
    public boolean isFinal() {
        return isFinal;
    }

    @Override
    protected String operands() {
        return Text.format(", algorithm=%s, isFinal=%s", session.algorithm(), isFinal)
                + super.operands();
    }

    private boolean hashEnded(Status ended) {
        session.ended(ended, isFinal);
        return completed(ended);
    }

    @Override
    @Nullable Refusal begin(OperationJobQueue submittedTo) {
        ShaScratch scratch = ((ShaJobQueue) submittedTo).scratch();
        return hash.beginPart(source(), destination(), session, submittedTo, isFinal, scratch);
    }

    @Override
    BufOperation operation() {
        return hash;
    }
}
