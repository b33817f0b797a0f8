package io.softdpu.compute;

import io.softdpu.core.spi.JobBase;

/** Queue of the hashes of one work queue. Used by that queue's thread alone. */
final class ShaJobQueue extends OperationJobQueue {
    private final ShaScratch scratch = new ShaScratch();

    ShaJobQueue(ShaContext sha, int depth) {
        super(sha, depth, Hash.SLICE_BYTES);
    }

    @Override
    protected boolean accepts(JobBase<?> job) {
        return job instanceof HashJob || job instanceof PartialHashJob;
    }

    ShaScratch scratch() {
        return scratch;
    }
}
