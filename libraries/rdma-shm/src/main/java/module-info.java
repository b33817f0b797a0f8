/** RDMA provider over shared memory. */
module io.softdpu.rdma.shm {
    requires io.softdpu.rdma;
    requires io.softdpu.fabric;
    requires io.softdpu.linux;
    requires static org.jspecify;

    provides io.softdpu.rdma.spi.RdmaProvider with
            io.softdpu.rdma.shm.ShmProvider;
}
