package io.softdpu.block.property;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/**
 * Refusal of the URI of a block device, before anything was opened: an unknown word, or a wrong
 * option. Its status is INVALID_VALUE, and its message names the known forms.
 */
public final class BlockUriException extends DpuException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates a refusal.
     *
     * @param message the reason, as {@code reason: key=value, key=value}
     */
    public BlockUriException(String message) {
        super(Status.INVALID_VALUE, message);
    }
}
