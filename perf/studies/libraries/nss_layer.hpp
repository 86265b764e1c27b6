// nss_layer.hpp: a descriptor of NSPR that reads from and writes to a memory_transport, for NSS to
// lie on.
#pragma once

#include "memory_transport.hpp"

#include <stdexcept>

#include <prerror.h>
#include <prio.h>
#include <prnetdb.h>

namespace study {

namespace nss_layer {

inline memory_transport& transport(PRFileDesc* descriptor)
{
    return *reinterpret_cast<memory_transport*>(descriptor->secret);
}

inline PRStatus close(PRFileDesc* self)
{
    self->dtor(self);
    return PR_SUCCESS;
}

inline PRInt32 recv(PRFileDesc* self, void* buffer, PRInt32 size, PRIntn, PRIntervalTime)
{
    std::size_t const taken = transport(self).read(buffer, static_cast<std::size_t>(size));
    if (taken > 0)
        return static_cast<PRInt32>(taken);
    PR_SetError(PR_WOULD_BLOCK_ERROR, 0);
    return -1;
}

inline PRInt32 send(PRFileDesc* self, void const* from, PRInt32 size, PRIntn, PRIntervalTime)
{
    if (transport(self).write(from, static_cast<std::size_t>(size)) > 0)
        return size;
    PR_SetError(PR_INSUFFICIENT_RESOURCES_ERROR, 0);
    return -1;
}

// NSS keeps a client's sessions under its server's address: all have one, and names of their own.
inline PRStatus address(PRFileDesc*, PRNetAddr* found)
{
    return PR_InitializeNetAddr(PR_IpAddrLoopback, 443, found);
}

inline PRStatus option(PRFileDesc*, PRSocketOptionData* asked)
{
    asked->value.non_blocking = PR_TRUE; // nothing else is asked for
    return PR_SUCCESS;
}

inline PRStatus set_option(PRFileDesc*, PRSocketOptionData const*)
{
    return PR_SUCCESS;
}

inline PRIOMethods methods()
{
    PRIOMethods all = *PR_GetDefaultIOMethods(); // what is not set here fails
    all.close = close;
    all.recv = recv;
    all.send = send;
    all.getpeername = address;
    all.getsockname = address;
    all.getsocketoption = option;
    all.setsocketoption = set_option;
    return all;
}

} // namespace nss_layer

/// open_nss_layer gives a descriptor on `transport`, or on nothing, for a model. Close frees it.
inline PRFileDesc* open_nss_layer(memory_transport* transport)
{
    static PRDescIdentity const identity = PR_GetUniqueIdentity("study");
    static PRIOMethods const methods = nss_layer::methods();
    PRFileDesc* const made = PR_CreateIOLayerStub(identity, &methods);
    if (made == nullptr)
        throw std::runtime_error("PR_CreateIOLayerStub failed");
    made->secret = reinterpret_cast<PRFilePrivate*>(transport);
    return made;
}

} // namespace study
