package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.IpAddressing;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.MemorySegment;

/** Messages of connection management: what was decoded encodes to bytes that decode to the same. */
@StartsProcesses
class CmMessageFuzzTest {

    @FuzzTest
    void bytes(byte[] datagram) {
        CmMessage message = Refused.orValue(() -> decode(datagram));
        if (message == null) {
            return;
        }
        byte[] encoded = CmCodec.encode(message);
        CmMessage again = decode(encoded);
        if (again == null) {
            throw new AssertionError("refused its own bytes: message=" + message);
        }
        Refused.requireSame("connection message", encoded, CmCodec.encode(again));
        if (message instanceof CmMessage.Req req && ServiceId.isPort(req.serviceId())) {
            IpAddressing addresses = Refused.orValue(() -> IpAddressing.decode(req.privateData()));
            if (addresses != null) {
                byte[] program = IpAddressing.programData(req.privateData());
                Refused.requireSame(
                        "IP addressing header",
                        addresses.encode(program),
                        IpAddressing.decode(addresses.encode(program)).encode(program));
            }
        }
    }

    /** Null for a kind that softdpu does not use. */
    private static CmMessage decode(byte[] datagram) {
        try {
            return CmCodec.decode(MemorySegment.ofArray(datagram), 0, datagram.length);
        } catch (DpuException e) {
            if (e.status() == Status.NOT_SUPPORTED) {
                return null;
            }
            throw e;
        }
    }
}
