package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/**
 * ABI tables compared with the kernel's headers; data only, so both architectures are checked here.
 */
final class AbiTest {
    @Test
    void shouldKnowTheConstantsOfX86() {
        assertThat(Abi.X86_64.directIo).isEqualTo(040000);
        assertThat(Abi.X86_64.directory).isEqualTo(0200000);
        assertThat(Abi.X86_64.noFollow).isEqualTo(0400000);
    }

    @Test
    void shouldKnowTheConstantsOfArm() {
        assertThat(Abi.AARCH64.directIo).isEqualTo(0200000);
        assertThat(Abi.AARCH64.directory).isEqualTo(040000);
        assertThat(Abi.AARCH64.noFollow).isEqualTo(0100000);
    }

    @Test
    void shouldPackEpollEventsOnX86Only() {
        assertThat(Abi.X86_64.epollEventBytes).isEqualTo(12);
        assertThat(Abi.X86_64.epollDataOffset).isEqualTo(4);
        assertThat(Abi.AARCH64.epollEventBytes).isEqualTo(16);
        assertThat(Abi.AARCH64.epollDataOffset).isEqualTo(8);
    }

    @Test
    void shouldLayOutMessageHeadersAs64BitLinuxDoes() {
        assertThat(
                        new int[] {
                            Abi.MsgHdr.NAME,
                            Abi.MsgHdr.NAME_LENGTH,
                            Abi.MsgHdr.IOV,
                            Abi.MsgHdr.IOV_LENGTH,
                            Abi.MsgHdr.CONTROL,
                            Abi.MsgHdr.CONTROL_LENGTH,
                            Abi.MsgHdr.FLAGS,
                            Abi.MsgHdr.BYTES
                        })
                .containsExactly(0, 8, 16, 24, 32, 40, 48, 56);
        assertThat(new int[] {Abi.IoVec.BASE, Abi.IoVec.LENGTH, Abi.IoVec.BYTES})
                .containsExactly(0, 8, 16);
        assertThat(
                        new int[] {
                            Abi.CmsgHdr.LENGTH,
                            Abi.CmsgHdr.LEVEL,
                            Abi.CmsgHdr.TYPE,
                            Abi.CmsgHdr.DATA
                        })
                .containsExactly(0, 8, 12, 16);
    }

    @Test
    void shouldLayOutDatagramStructuresAs64BitLinuxDoes() {
        assertThat(new int[] {Abi.MMsgHdr.LENGTH, Abi.MMsgHdr.BYTES}).containsExactly(56, 64);
        assertThat(new int[] {Abi.InPktInfo.ADDRESS, Abi.InPktInfo.BYTES}).containsExactly(8, 12);
        assertThat(new int[] {Abi.In6PktInfo.ADDRESS, Abi.In6PktInfo.BYTES}).containsExactly(0, 20);
        assertThat(
                        new int[] {
                            Abi.ExtendedError.ERRNO,
                            Abi.ExtendedError.ORIGIN,
                            Abi.ExtendedError.TYPE,
                            Abi.ExtendedError.CODE,
                            Abi.ExtendedError.INFO,
                            Abi.ExtendedError.BYTES
                        })
                .containsExactly(0, 4, 5, 6, 8, 16);
    }

    @Test
    void shouldPadControlMessagesAsTheMacrosDo() {
        assertThat(Abi.CmsgHdr.length(4)).isEqualTo(20);
        assertThat(Abi.CmsgHdr.space(4)).isEqualTo(24);
        assertThat(Abi.CmsgHdr.space(8)).isEqualTo(24);
        assertThat(Abi.CmsgHdr.space(12)).isEqualTo(32);
        assertThat(Abi.CmsgHdr.align(0)).isEqualTo(0);
        assertThat(Abi.CmsgHdr.align(17)).isEqualTo(24);
    }

    @Test
    void shouldLayOutSocketStructuresAsLinuxDoes() {
        assertThat(
                        new int[] {
                            Abi.SockAddrUn.FAMILY,
                            Abi.SockAddrUn.PATH,
                            Abi.SockAddrUn.PATH_BYTES,
                            Abi.SockAddrUn.BYTES
                        })
                .containsExactly(0, 2, 108, 110);
        assertThat(
                        new int[] {
                            Abi.SockAddrIn.FAMILY,
                            Abi.SockAddrIn.PORT,
                            Abi.SockAddrIn.ADDRESS,
                            Abi.SockAddrIn.BYTES
                        })
                .containsExactly(0, 2, 4, 16);
        assertThat(
                        new int[] {
                            Abi.SockAddrIn6.FAMILY,
                            Abi.SockAddrIn6.PORT,
                            Abi.SockAddrIn6.FLOW,
                            Abi.SockAddrIn6.ADDRESS,
                            Abi.SockAddrIn6.SCOPE,
                            Abi.SockAddrIn6.BYTES
                        })
                .containsExactly(0, 2, 4, 8, 24, 28);
        assertThat(
                        new int[] {
                            Abi.PollFd.FD, Abi.PollFd.EVENTS, Abi.PollFd.RETURNED, Abi.PollFd.BYTES
                        })
                .containsExactly(0, 4, 6, 8);
        assertThat(new int[] {Abi.UCred.PID, Abi.UCred.UID, Abi.UCred.GID, Abi.UCred.BYTES})
                .containsExactly(0, 4, 8, 12);
    }

    @Test
    void shouldLayOutFileStructuresAsLinuxDoes() {
        assertThat(
                        new int[] {
                            Abi.Statx.UID,
                            Abi.Statx.MODE,
                            Abi.Statx.INODE,
                            Abi.Statx.SIZE,
                            Abi.Statx.DEVICE_MAJOR,
                            Abi.Statx.DEVICE_MINOR,
                            Abi.Statx.DIRECT_MEMORY_ALIGNMENT,
                            Abi.Statx.DIRECT_OFFSET_ALIGNMENT,
                            Abi.Statx.BYTES
                        })
                .containsExactly(20, 28, 32, 40, 136, 140, 152, 156, 256);
        assertThat(
                        new int[] {
                            Abi.Flock.TYPE,
                            Abi.Flock.WHENCE,
                            Abi.Flock.START,
                            Abi.Flock.LENGTH,
                            Abi.Flock.PID,
                            Abi.Flock.BYTES
                        })
                .containsExactly(0, 2, 8, 16, 24, 32);
        assertThat(new int[] {Abi.Statfs.TYPE, Abi.Statfs.BYTES}).containsExactly(0, 120);
    }

    @Test
    void shouldLayOutRingsAsLinuxDoes() {
        assertThat(
                        new int[] {
                            Abi.UringParams.SQ_ENTRIES,
                            Abi.UringParams.CQ_ENTRIES,
                            Abi.UringParams.FLAGS,
                            Abi.UringParams.FEATURES,
                            Abi.UringParams.SQ_TAIL,
                            Abi.UringParams.SQ_FLAGS,
                            Abi.UringParams.SQ_ARRAY,
                            Abi.UringParams.CQ_HEAD,
                            Abi.UringParams.CQ_TAIL,
                            Abi.UringParams.CQ_OVERFLOW,
                            Abi.UringParams.CQ_CQES,
                            Abi.UringParams.BYTES
                        })
                .containsExactly(0, 4, 8, 20, 44, 56, 64, 80, 84, 96, 100, 120);
        assertThat(
                        new int[] {
                            Abi.UringSubmission.OPCODE,
                            Abi.UringSubmission.OFFSET,
                            Abi.UringSubmission.ADDRESS,
                            Abi.UringSubmission.LENGTH,
                            Abi.UringSubmission.USER_DATA,
                            Abi.UringSubmission.BYTES
                        })
                .containsExactly(0, 8, 16, 24, 32, 64);
        assertThat(
                        new int[] {
                            Abi.UringCompletion.USER_DATA,
                            Abi.UringCompletion.RESULT,
                            Abi.UringCompletion.BYTES
                        })
                .containsExactly(0, 8, 16);
        assertThat(
                        new int[] {
                            Abi.UringProbe.LENGTH,
                            Abi.UringProbe.OPERATIONS,
                            Abi.UringProbe.OPERATION_FLAGS,
                            Abi.UringProbe.OPERATION_BYTES
                        })
                .containsExactly(1, 16, 2, 8);
    }

    @Test
    void shouldFitEachScratchStructureIntoScratch() {
        assertThat(CallState.SCRATCH_BYTES)
                .isGreaterThanOrEqualTo(Abi.Statx.BYTES)
                .isGreaterThanOrEqualTo(Abi.Statfs.BYTES)
                .isGreaterThanOrEqualTo(Abi.UringParams.BYTES)
                .isGreaterThanOrEqualTo(Abi.Flock.BYTES)
                .isGreaterThanOrEqualTo(Abi.SockAddrUn.BYTES)
                .isGreaterThanOrEqualTo(Abi.UCred.BYTES + Integer.BYTES);
    }

    @Test
    void shouldNameThePlatformsThatItKnows() {
        assertThat(Abi.of("Linux", "amd64")).isSameAs(Abi.X86_64);
        assertThat(Abi.of("Linux", "aarch64")).isSameAs(Abi.AARCH64);
    }

    @Test
    void shouldRefuseAPlatformThatItDoesNotKnow() {
        assertThatThrownBy(() -> Abi.of("Linux", "riscv64"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("os.arch=riscv64");
        assertThatThrownBy(() -> Abi.of("Mac OS X", "aarch64"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("os.name=Mac OS X");
    }
}
