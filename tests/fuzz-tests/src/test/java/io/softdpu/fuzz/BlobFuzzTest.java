package io.softdpu.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.rdma.spi.ConnectionBlobs;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Blobs that one process passes to another: exports of memory and sync events, RDMA connections.
 */
@StartsProcesses
class BlobFuzzTest {

    @FuzzTest
    void bytes(byte[] blob) {
        byte[] copy = blob.clone();
        ExportDescriptor export = Refused.orValue(() -> ExportDescriptor.decode(blob));
        if (export != null) {
            Refused.requireSame("export blob", blob, export.encode());
        }
        ConnectionBlobs.check(blob);
        SyncEventBlob event = Refused.orValue(() -> SyncEventBlob.decode(blob));
        if (event != null) {
            Refused.requireSame("sync event blob", blob, event.encode());
        }
        RemoteEventBlob remote = Refused.orValue(() -> RemoteEventBlob.decode(blob));
        if (remote != null) {
            Refused.requireSame("remote sync event blob", blob, remote.encode());
        }
        JoinRequest join = Refused.orValue(() -> JoinRequest.decode(blob));
        if (join != null) {
            Refused.requireSame("join request", blob, join.encode());
        }
        RegionAddress address =
                Refused.orValue(() -> RegionAddress.decode(MemorySegment.ofArray(blob), 0));
        if (address != null) {
            byte[] again = new byte[RegionAddress.WIRE_BYTES];
            address.encode(MemorySegment.ofArray(again), 0);
            Refused.requireSame(
                    "region address", Arrays.copyOf(blob, RegionAddress.WIRE_BYTES), again);
        }
        Refused.requireSame("the blob itself", copy, blob);
    }

    /** A golden export of an old version would be refused at once, and nothing behind it tried. */
    @ParameterizedTest
    @ValueSource(strings = {"golden-pci-export", "golden-rdma-export"})
    void shouldHaveKeptInputsOfTheVersionThatIsRead(String name) throws IOException {
        try (InputStream input =
                BlobFuzzTest.class.getResourceAsStream("BlobFuzzTestInputs/bytes/" + name)) {
            byte[] blob = Objects.requireNonNull(input, name).readAllBytes();
            assertThat(ExportDescriptor.decode(blob).encode()).isEqualTo(blob);
        }
    }

    @FuzzTest
    void fields(FuzzedDataProvider data) {
        ExportDescriptor export;
        try {
            export =
                    new ExportDescriptor(
                            data.pickValue(ExportDescriptor.Kind.values()),
                            data.consumeInt(),
                            data.consumeInt(),
                            data.consumeLong(),
                            data.consumeBytes(16),
                            Arrays.copyOf(data.consumeBytes(16), 16),
                            new RegionAddress(
                                    id(data),
                                    id(data),
                                    id(data),
                                    data.consumeLong(),
                                    id(data),
                                    data.consumeLong(1, Long.MAX_VALUE)),
                            data.pickValue(Side.values()),
                            data.consumeRemainingAsString());
        } catch (DpuException e) {
            return; // a value that cannot be
        }
        Refused.requireReturns(export, value -> ExportDescriptor.decode(value.encode()));
    }

    @FuzzTest
    void syncEventFields(FuzzedDataProvider data) {
        SyncEventBlob event;
        try {
            event =
                    new SyncEventBlob(
                            data.pickValue(SyncEventBlob.Place.values()),
                            data.pickValue(SyncEventBlob.Place.values()),
                            id(data),
                            id(data),
                            id(data),
                            id(data),
                            Arrays.copyOf(data.consumeBytes(32), 32),
                            data.consumeRemainingAsString());
        } catch (DpuException e) {
            return; // a value that cannot be
        }
        Refused.requireReturns(event, value -> SyncEventBlob.decode(value.encode()));
    }

    @FuzzTest
    void remoteEventFields(FuzzedDataProvider data) {
        RemoteEventBlob event;
        try {
            event =
                    new RemoteEventBlob(
                            data.pickValue(Side.values()),
                            id(data),
                            id(data),
                            id(data),
                            id(data),
                            id(data),
                            Arrays.copyOf(data.consumeBytes(16), 16),
                            data.consumeLong(),
                            data.consumeInt(),
                            Arrays.copyOf(data.consumeBytes(16), 16),
                            data.consumeRemainingAsString());
        } catch (DpuException e) {
            return; // a value that cannot be
        }
        Refused.requireReturns(event, value -> RemoteEventBlob.decode(value.encode()));
    }

    private static RegionAddress.Id id(FuzzedDataProvider data) {
        return new RegionAddress.Id(data.consumeLong(), data.consumeLong());
    }
}
