package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.core.spi.TaskType;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.LocalList;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Base class of the RDMA tasks: the work request for the provider, and the checks of local bufs,
 * which follow the guide's table of permissions strictly.
 *
 * @param <T> the public type, which setters return
 */
abstract class RdmaTask<T extends Task> extends TaskBase<T> {

    private static final Permissions LOCAL = Permissions.LOCAL_READ_WRITE;
    private static final Permissions OVER_PCI = Permissions.of(AccessFlag.PCI_READ_WRITE);

    final RdmaContext rdma;
    final WorkRequest request;
    private final TaskType<?, RdmaTaskCallback<T>> type;
    final int maxListLength;
    private final MemoryRight local;
    private final MemoryRight overPci;

    /**
     * @param maxListLength limit of elements of the task's local list
     */
    RdmaTask(RdmaContext rdma, RdmaTasks.Definition<?, T> definition, int maxListLength) {
        super(rdma);
        this.rdma = rdma;
        this.type = rdma.tasks().of(definition);
        this.maxListLength = maxListLength;
        this.request = new WorkRequest(definition.type().kind, this::finish, maxListLength);
        this.local = new MemoryRight(rdma.device(), LOCAL);
        this.overPci = new MemoryRight(rdma.device(), OVER_PCI);
    }

    /** The user's callback for this task, which has completed. */
    final RdmaTaskCallback<T> callback() {
        return type.callbackFor(this);
    }

    /** Operation, status and instance, for messages. */
    @Override
    public final String toString() {
        return Text.format(
                "rdma task[operation=%s, status=%s, context=%s]", request.kind, status(), rdma);
    }

    /** The provider has completed the request; the bufs belong to the user again. */
    abstract void finish(Status status);

    /**
     * Checks whether a local list may be used: the mmap of each element has this device and may be
     * read and written. Memory that was imported over PCIe counts as local memory.
     *
     * @param operand its name in the task: {@code source}
     */
    final @Nullable Refusal checkLocal(String operand, Buf list) {
        if (list.references() == 0) {
            return BufLists.released(operand, list);
        }
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            Refusal refusal = checkLocal(operand, element, element.mmap());
            if (refusal != null) {
                return refusal;
            }
        }
        return null;
    }

    private @Nullable Refusal checkLocal(String operand, Buf buf, Mmap mmap) {
        Refusal refusal = (mmap.isImported() ? overPci : local).check(mmap);
        if (refusal != null) {
            return Refusal.with(refusal, "operand=" + operand);
        }
        return mmap.isImported() && !Regions.isMapped(mmap) ? notMapped(operand, buf) : null;
    }

    private static Refusal notMapped(String operand, Buf buf) {
        return Refusal.of(
                Status.NOT_SUPPORTED,
                "mmap was imported without a mapping, for re-export only: %s=%s, expected=an import"
                        + " with Mapping.ACCESS",
                operand,
                buf);
    }

    /** Checks that an operation does not transfer more than the device supports. */
    final @Nullable Refusal checkLength(Buf source, long lengthBytes) {
        return lengthBytes > rdma.maxMessageBytes()
                ? BufLists.tooMuchData("source", source, rdma.maxMessageBytes())
                : null;
    }

    /** Resolves no local memory. */
    final void useNothing() {
        request.local.clear();
        request.lengthBytes = 0;
    }

    /** Resolves the data of a list, which has been marked. */
    final void gather(Buf list, long lengthBytes) {
        LocalList local = request.local;
        local.clear();
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            local.add(Regions.segmentOf(element), element.dataOffset(), element.dataLength());
        }
        request.lengthBytes = lengthBytes;
    }

    /** Resolves the room behind the data of a list, which has been marked. */
    final void scatter(Buf list, long lengthBytes) {
        LocalList local = request.local;
        local.clear();
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            local.add(
                    Regions.segmentOf(element),
                    element.dataOffset() + element.dataLength(),
                    element.tailroom());
        }
        request.lengthBytes = lengthBytes;
    }
}
